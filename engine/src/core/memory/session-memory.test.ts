import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLedger } from '../ledger/ledger.ts'
import { blocksOf, type ViewMessage } from '../message/message.ts'
import type { ModelAnswer, ModelClient, ModelRequest } from '../ports/model.ts'
import { emptyNotes, noteHeads } from '../prompts/memory.ts'
import { defaultSettings } from '../settings/resolve.ts'
import { extractionRequest, extractNotes } from './extract.ts'
import {
  cutNotes,
  isEmpty,
  merged,
  type Notes,
  overLimit,
  parseNotes,
  renderNotes,
  updated,
  updatesIn,
  withTemplate,
} from './notes.ts'
import { type MemoryPlanInput, planFromMemory } from './plan.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)
const blank = parseNotes(emptyNotes())
const noted = (bodies: Readonly<Record<string, string>>): Notes =>
  blank.map((section) => ({ ...section, body: bodies[section.heading] ?? '' }))

describe('notes', () => {
  test('the template has ten sections, each with its line in italics, and nothing in them', () => {
    expect(blank.map(({ heading, hint }) => ({ heading, hint }))).toEqual(noteHeads)
    expect(blank).toHaveLength(10)
    expect(isEmpty(blank)).toBe(true)
  })

  test('what is written is read back, whatever it says', () => {
    const body = fc.string({ unit: 'grapheme', maxLength: 200 }).map((text) => text.replaceAll('\r', '').trim())
    fc.assert(
      fc.property(fc.array(body, { minLength: 10, maxLength: 10 }), (bodies) => {
        const updates = bodies.map((text, at) => ({ heading: noteHeads[at]?.heading ?? '', body: text }))
        const safe = updates.filter(({ body: text }) => !/^(# |_.*_$)/m.test(text))
        const notes = updated(blank, safe)
        expect(parseNotes(renderNotes(notes))).toEqual(notes)
      }),
    )
  })

  test('a model’s answer changes the sections it names, and cannot tear the file apart', () => {
    const answer = [
      'Here you are.',
      '<section name="Learnings">\n# Learnings\nuse pnpm\n# Worklog\nfake\n</section>',
      '<section name="No such section">\nx\n</section>',
    ].join('\n')
    expect(updatesIn(answer)).toEqual([
      { heading: 'Learnings', body: 'use pnpm\n## Worklog\nfake' },
      { heading: 'No such section', body: 'x' },
    ])
    const notes = updated(noted({ Worklog: 'kept' }), updatesIn(answer))
    expect(parseNotes(renderNotes(notes))).toEqual(noted({ Learnings: 'use pnpm\n## Worklog\nfake', Worklog: 'kept' }))
  })

  test('what a person changed meanwhile is merged, not overwritten', () => {
    const base = noted({ Learnings: 'a', Workflow: 'w', Worklog: 'one' })
    const theirs = [...noted({ Learnings: 'a by hand', Workflow: 'w', Worklog: 'one\nby hand' }), own]
    const ours = noted({ Learnings: 'a', Workflow: 'w by us', Worklog: 'one\ntwo' })
    expect(merged(base, theirs, ours)).toEqual([
      ...noted({ Learnings: 'a by hand', Workflow: 'w by us', Worklog: 'one\nby hand\ntwo' }),
      own,
    ])
  })

  test('a line that a person deleted meanwhile stays deleted', () => {
    const base = noted({ Worklog: 'one\ntwo' })
    const theirs = noted({ Worklog: 'one' })
    const ours = noted({ Worklog: 'one\ntwo\nthree' })
    expect(merged(base, theirs, ours)).toEqual(noted({ Worklog: 'one\nthree' }))
  })

  const own = { heading: 'My own', hint: '', body: 'mine' }

  test('a template of one’s own decides the sections; others that hold something stay behind them', () => {
    expect(withTemplate([own], [{ heading: 'Only', hint: 'this' }])).toEqual([
      { heading: 'Only', hint: 'this', body: '' },
      own,
    ])
  })

  test('sections and files over their limits are told to the next extraction', () => {
    const long = noted({ Workflow: 'x'.repeat(8004) })
    expect(overLimit(long, countTokens)).toEqual({ long: [{ heading: 'Workflow', tokens: 2001 }] })
    const huge = blank.map((section) => ({ ...section, body: 'x'.repeat(6000) }))
    expect(overLimit(huge, countTokens).total?.limit).toBe(12_000)
  })

  test('for a summary each section is cut to its limit, with heading, italics and a word on where the rest is', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `step ${at} of the long way that was gone`)
    const [title, ...rest] = cutNotes(noted({ 'Session title': lines.join('\n') }), { countTokens, marker: '[rest]' })
    expect(title?.body.endsWith('\n[rest]')).toBe(true)
    expect(countTokens(title?.body ?? '')).toBeLessThanOrEqual(2000)
    expect(rest.every(({ body }) => body === '')).toBe(true)
  })
})

function talk(count: number, tokens: number): readonly ViewMessage[] {
  return Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
    origin: at % 2 === 0 ? ('human' as const) : ('assistant' as const),
    uuid: `m${at}`,
    content: 'x'.repeat(tokens * 4),
  }))
}

const inputOf = (messages: readonly ViewMessage[], given: Partial<MemoryPlanInput> = {}): MemoryPlanInput => ({
  messages,
  // Long enough for the messages that it replaces.
  notes: noted({ 'Current state': 'half way '.repeat(800) }),
  path: '/s/session-memory/summary.md',
  lastSeen: messages.at(-1)?.uuid,
  indexOf: (uuid) => messages.findIndex((message) => message.uuid === uuid),
  isResumed: false,
  threshold: 100_000,
  countTokens,
  weigh: ({ content }) => countTokens(String(content)),
  overhead: 0,
  ...given,
})

const why = (input: MemoryPlanInput) => {
  const plan = planFromMemory(input)
  return plan.type === 'declined' ? plan.reason : `keeps from ${plan.keepFrom}`
}

describe('compacting from the notes', () => {
  test('keeps what the notes have not seen, and more until 10,000 tokens and five messages with text stay', () => {
    const messages = talk(40, 1000)
    expect(why(inputOf(messages))).toBe('keeps from 30')
    expect(why(inputOf(messages, { lastSeen: 'm19' }))).toBe('keeps from 20')
    expect(why(inputOf(talk(40, 5000)))).toBe('keeps from 35')
    expect(why(inputOf(talk(40, 20_000), { threshold: 1_000_000 }))).toBe('keeps from 38')
  })

  test('stops at 40,000 tokens even when they are few messages', () => {
    const messages = talk(20, defaultSettings.sessionMemory.keep.maxTokens / 2)
    expect(why(inputOf(messages, { threshold: 1_000_000 }))).toBe('keeps from 18')
  })

  test('never goes past the latest boundary', () => {
    const summary: ViewMessage = { role: 'user', origin: 'summary', content: 'before', uuid: 's' }
    expect(why(inputOf([...talk(4, 5000), summary, ...talk(3, 100)]))).toBe('nothing-to-summarize')
  })

  test('no pair is split', () => {
    const call = { type: 'tool_use', id: 't', name: 'Read', input: {} }
    const result = { type: 'tool_result', tool_use_id: 't', content: 'x' }
    const messages: readonly ViewMessage[] = [
      ...talk(20, 3000),
      { role: 'user', origin: 'human', content: 'go', uuid: 'h' },
      { role: 'assistant', origin: 'assistant', content: [call], uuid: 'a' },
      { role: 'user', origin: 'tool-result', content: [result], uuid: 'r' },
      ...talk(8, 3000).slice(1),
    ]
    expect(why(inputOf(messages, { lastSeen: 'a', weigh: () => 2000 }))).toBe('keeps from 21')
  })

  test('every reason to decline has its name', () => {
    const messages = talk(40, 1000)
    expect(why(inputOf(messages, { notes: undefined }))).toBe('no-notes')
    expect(why(inputOf(messages, { notes: blank }))).toBe('empty-notes')
    expect(why(inputOf(messages, { lastSeen: 'gone' }))).toBe('last-message-gone')
    expect(why(inputOf(messages, { lastSeen: undefined }))).toBe('last-message-gone')
    expect(why(inputOf(messages, { lastSeen: undefined, isResumed: true }))).toBe('keeps from 30')
    expect(why(inputOf(messages, { threshold: 10_000 }))).toBe('over-threshold')
    expect(why(inputOf(talk(200, 1000), { notes: noted({ Workflow: 'ten words' }) }))).toBe('too-thin')
  })
})

describe('notes that are too thin', () => {
  const asked = (content: string): readonly ViewMessage[] => [
    ...talk(40, 1000),
    { role: 'user', origin: 'human', content, uuid: 'asked' },
    ...talk(12, 1000).map(
      (message, at) => ({ ...message, role: 'assistant', origin: 'assistant', uuid: `n${at}` }) as const,
    ),
  ]
  const request = 'Please migrate the billing exports to the warehouse before the audit'
  const notesWith = (body: string) => noted({ 'Current state': `${body} ${'half way '.repeat(800)}` })

  test('notes that say nothing of the newest request they replace are refused', () => {
    expect(why(inputOf(asked(request), { notes: notesWith('about something else') }))).toBe('too-thin')
  })

  test('notes that mention it in other words are taken', () => {
    expect(why(inputOf(asked(request), { notes: notesWith('migrating billing exports') }))).not.toBe('too-thin')
  })

  test('short notes are enough for a short conversation', () => {
    const notes = noted({ 'Current state': 'half way '.repeat(120) })
    expect(why(inputOf(talk(20, 1000), { notes }))).not.toBe('too-thin')
  })
})

describe('extraction', () => {
  const conversation: ModelRequest = {
    source: 'turn',
    model: 'claude-test',
    system: 'be good',
    messages: [{ role: 'user', content: 'hello' }],
  }
  const clientOf = (answer: Partial<ModelAnswer>, offline = false): ModelClient => ({
    provider: 'test',
    model: 'claude-test',
    capabilities: () => ({
      cacheEdits: false,
      contextManagement: false,
      compaction: 'none',
      promptCache: true,
      offline,
    }),
    send: async () => ({
      type: 'answer',
      id: 'a',
      model: 'claude-test',
      content: [],
      stopReason: 'end_turn',
      usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 0, cacheWriteHour: 0 },
      ...answer,
    }),
  })
  const run = (model: ModelClient, notes: Notes = blank) =>
    extractNotes({ notes, conversation, messages: [], ledger: createLedger().ledger(), model, countTokens })

  test('the request is the conversation’s own with one message behind it', () => {
    const talked: ModelRequest = {
      ...conversation,
      messages: [...conversation.messages, { role: 'assistant', content: 'hi' }],
    }
    const request = extractionRequest({
      notes: noted({ Workflow: 'x'.repeat(9000) }),
      conversation: talked,
      messages: [],
      ledger: createLedger().ledger(),
      model: clientOf({}),
      countTokens,
    })
    expect({ ...request, source: 'turn', messages: request.messages.slice(0, -1) }).toEqual(talked)
    expect(request.source).toBe('session-memory')
    expect(JSON.stringify(request.messages.at(-1))).toContain('has about 2250 tokens and may have 2000')
  })

  test('after results of tools it is in the same message, so that roles alternate', () => {
    const request = extractionRequest({
      notes: noted({}),
      conversation,
      messages: [],
      ledger: createLedger().ledger(),
      model: clientOf({}),
      countTokens,
    })
    expect(request.messages.map(({ role }) => role)).toEqual(['user'])
    expect(blocksOf(request.messages[0]?.content)[0]).toEqual({ type: 'text', text: 'hello' })
    expect(blocksOf(request.messages[0]?.content)).toHaveLength(2)
  })

  test('sections of the answer become the notes, and its tokens are counted', async () => {
    const text = '<section name="Current state">\nat the end\n</section>'
    expect(await run(clientOf({ content: [{ type: 'text', text }] }))).toEqual({
      type: 'extracted',
      notes: noted({ 'Current state': 'at the end' }),
      usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 0, cacheWriteHour: 0 },
    })
  })

  test('secrets in the answer do not become notes', async () => {
    const text = '<section name="Current state">\nDB_PASSWORD=hunter2hunter2, key Zq81-0042\n</section>'
    const redact = (given: string) => given.replaceAll('Zq81-0042', '[key]')
    const model = clientOf({ content: [{ type: 'text', text }] })
    const ledger = createLedger().ledger()
    const extraction = await extractNotes({
      notes: blank,
      conversation,
      messages: [],
      ledger,
      model,
      countTokens,
      redact,
    })
    expect(extraction).toMatchObject({ notes: noted({ 'Current state': 'DB_PASSWORD=[redacted], key [key]' }) })
  })

  test('an answer without a section, or one that makes notes over their limit longer, fails', async () => {
    expect((await run(clientOf({ content: [{ type: 'text', text: 'Done!' }] }))).type).toBe('failed')
    const full = blank.map((section) => ({ ...section, body: 'x'.repeat(6000) }))
    const text = `<section name="Worklog">${'y'.repeat(7000)}</section>`
    expect((await run(clientOf({ content: [{ type: 'text', text }] }), full)).type).toBe('failed')
  })

  test('without a model the ledger fills the sections, the same way each time', async () => {
    const messages: readonly ViewMessage[] = [
      { role: 'user', origin: 'human', content: 'Fix the login. Never touch the schema.', uuid: '1' },
      {
        role: 'assistant',
        origin: 'assistant',
        uuid: '2',
        content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'npm test' } }],
      },
      {
        role: 'user',
        origin: 'tool-result',
        uuid: '3',
        content: [{ type: 'tool_result', tool_use_id: 't', content: '12 passed' }],
      },
      { role: 'assistant', origin: 'assistant', uuid: '4', content: [{ type: 'text', text: 'The login works.' }] },
    ]
    const book = createLedger()
    for (const message of messages) book.add(message)
    const input = {
      notes: blank,
      conversation,
      messages,
      ledger: book.ledger(),
      model: clientOf({}, true),
      countTokens,
    }
    const extraction = await extractNotes(input)
    expect(extraction).toEqual(await extractNotes(input))
    const text = extraction.type === 'extracted' ? renderNotes(extraction.notes) : ''
    expect(text).toContain(
      '# Session title\n_Five to ten words that say what this session is about._\nFix the login. Never touch the schema.',
    )
    expect(text).toContain('"Never touch the schema."')
    expect(text).toContain('`npm test`')
    expect(text).toContain('The agent last reported: The login works.')
  })
})
