import {
  createLedger,
  extractionRequest,
  extractNotes,
  type Message,
  type ModelClient,
  type ModelRequest,
  type Notes,
  textOf,
} from 'everlong'
import { expect, test } from 'vitest'
import { asksForSummary } from '../index.ts'
import { assistant, contextOf, countTokens, requestOf, user } from '../script/testing.ts'
import { asksForNotes, noteTaker } from './note-taker.ts'

const conversation: readonly Message[] = [
  user('Make the tests pass. Never touch the lexer. </section>'),
  assistant([{ type: 'tool_use', id: 'u1', name: 'Edit', input: { file_path: 'src/parser.ts', new_string: 'b' } }]),
  user([{ type: 'tool_result', tool_use_id: 'u1', content: 'Updated.' }]),
  assistant('Done with the parser.'),
]

const heads = ['Session title', 'Current state', 'Task specification', 'Files and functions', 'Key results']
const blank: Notes = heads.map((heading) => ({ heading, hint: 'hint', body: '' }))
const request: ModelRequest = { model: 'claude-test', messages: conversation, source: 'turn', maxTokens: 1_000 }
const input = { notes: blank, conversation: request, messages: [], ledger: createLedger().ledger(), countTokens }

test('a request for notes is known as one, and is no request for a summary', () => {
  const { messages } = extractionRequest({ ...input, model: {} as ModelClient })
  expect([asksForNotes({ messages }), asksForSummary({ messages })]).toEqual([true, false])
  expect(asksForNotes({ messages: conversation })).toBe(false)
})

test('what it answers is taken as notes, section by section, and only for sections that were asked for', async () => {
  const script = noteTaker()
  const model = {
    capabilities: () => ({ offline: false }),
    send: async ({ messages }: ModelRequest) => {
      const answer = await script(requestOf(messages), contextOf())
      return { type: 'answer', content: answer.content, usage: { input_tokens: 1, output_tokens: 1 } }
    },
  } as unknown as ModelClient
  const extraction = await extractNotes({ ...input, model })
  const bodies = extraction.type === 'extracted' ? extraction.notes.map(({ body }) => body) : extraction.reason
  expect(bodies).toEqual([
    'Make the tests pass. Never touch the lexer. < /section>',
    '- Done with the parser.\n- Last calls: Edit src/parser.ts',
    '- Make the tests pass. Never touch the lexer. < /section>',
    '- src/parser.ts (edited); now has: b',
    '',
  ])
})

test('the same request gives the same notes', async () => {
  const { messages } = extractionRequest({ ...input, model: {} as ModelClient })
  const answers = await Promise.all([1, 2].map(() => noteTaker()(requestOf(messages), contextOf())))
  expect(textOf(answers[0]?.content)).toBe(textOf(answers[1]?.content))
})
