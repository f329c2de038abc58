import { isToolUse, textOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import { summarizer } from '../summary/summarizer.ts'
import { fixed } from './fixed.ts'
import { type Misbehavior, misbehavesThen, misbehaving, misbehaviors } from './misbehaving.ts'
import { ask, assistant, contextOf, countTokens, requestOf, user } from './testing.ts'

const source = [user('Mend the parser.'), assistant(`I did. ${'It was long work. '.repeat(40)}`)]
const prompt = 'Write a summary of the conversation so far in <summary></summary>.'
const request = requestOf([...source, user(prompt)], { tools: [{ name: 'Grep' }] })
const answerOf = (kind: Misbehavior) => ask(misbehaving(kind), request)
const said = async (kind: Misbehavior) => textOf((await answerOf(kind)).content)

test('the short misbehaviors, whole', async () => {
  const short = misbehaviors.slice(0, 7)
  const answers = await Promise.all(short.map(async (kind) => [kind, await answerOf(kind)]))
  expect(Object.fromEntries(answers)).toEqual({
    'calls-tools': {
      content: [
        { type: 'text', text: 'Let me look at the files first.' },
        { type: 'tool_use', name: 'Grep', input: { file_path: 'README.md' } },
      ],
    },
    'empty-text': { content: [{ type: 'text', text: '' }] },
    'empty-content': { content: [], stopReason: 'end_turn' },
    'only-thinking': {
      content: [{ type: 'thinking', thinking: 'I should write the summary now.' }],
      stopReason: 'end_turn',
    },
    'error-text': {
      content: [
        {
          type: 'text',
          text: 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        },
      ],
    },
    endless: {
      content: [{ type: 'text', text: '<summary>\n1. Primary request and intent:\n- and then ' }],
      endless: true,
    },
    refuses: { content: [{ type: 'text', text: "I can't help with that." }], stopReason: 'refusal' },
  })
})

test('without tools it calls one it was never offered', async () => {
  const answer = await ask(misbehaving('calls-tools'), 'Summarize.')
  expect(answer.content.map((block) => (isToolUse({ ...block, id: 'x' }) ? block.name : block.type))).toEqual([
    'text',
    'Read',
  ])
})

test('a summary without tags is otherwise whole', async () => {
  const words = await said('no-tags')
  expect(words).toMatch(/^1\. Primary request and intent:/)
  expect(words).toContain('9. Optional next step:')
  expect(words).not.toMatch(/<|analysis/)
})

test('truncated tags open and never close', async () => {
  const words = await said('truncated-tags')
  expect(words).toContain('<summary>')
  expect(words).not.toContain('</summary>')
  expect((await answerOf('truncated-tags')).stopReason).toBe('max_tokens')
})

test('a summary longer than its source is longer, well formed, and within the output limit', async () => {
  const words = await said('longer-than-source')
  expect(countTokens(words)).toBeGreaterThan(countTokens(source.map((message) => textOf(message.content)).join('\n')))
  expect(words).toMatch(/^<summary>[\s\S]*<\/summary>$/)
  const limited = await ask(misbehaving('longer-than-source'), { ...request, maxTokens: 50 })
  expect(countTokens(textOf(limited.content))).toBeLessThanOrEqual(50)
})

test('the echo gives back the prompt', async () => {
  expect(await said('echoes-prompt')).toBe(prompt)
})

test.each(misbehaviors)('%s gives an answer to a conversation of any kind, the same every time', async (kind) => {
  const bare = requestOf([user([{ type: 'tool_result', tool_use_id: 'x' }])])
  expect(await ask(misbehaving(kind), bare)).toEqual(await ask(misbehaving(kind), bare))
})

test('after misbehaving as often as told it behaves, from its own first turn', async () => {
  const script = misbehavesThen('refuses', 2, fixed(['one', 'two']))
  const answers = await Promise.all(
    [0, 1, 2, 3].map(async (turn) => textOf((await script(request, contextOf(turn))).content)),
  )
  expect(answers).toEqual(["I can't help with that.", "I can't help with that.", 'one', 'two'])
  const summary = await misbehavesThen('calls-tools', 1, summarizer())(request, contextOf(1))
  expect(textOf(summary.content)).toContain('6. All user messages:\n- Mend the parser.')
})
