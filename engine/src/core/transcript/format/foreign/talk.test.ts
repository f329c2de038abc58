import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generateTalk, talkFormats } from '../../../../testing/index.ts'
import type { JsonObject } from '../../../message/json.ts'
import { blocksOf, textOf } from '../../../message/message.ts'
import { contextTokens } from '../../../message/usage.ts'
import { checkRequest } from '../../../request/check-request.ts'
import { repairRequest } from '../../../request/repair.ts'
import { foldEntries } from '../../view/fold.ts'
import { type Entry, readHead } from '../entry.ts'
import { messageOf } from '../messages.ts'
import { createTranscriptReader } from '../reader.ts'

function read(records: readonly JsonObject[]) {
  const reader = createTranscriptReader()
  const position = (at: number) => ({ line: at + 1, offset: at, length: 1, nth: 0 })
  const entries = records.flatMap((record, at) => reader.read(record, position(at)))
  return { entries, format: reader.format() }
}

const saidIn = (entries: readonly Entry[]) =>
  entries.flatMap(({ record }) => {
    const message = messageOf(record)
    return message?.origin === 'human' ? [textOf(message.content)] : []
  })
const shown = (records: readonly JsonObject[]) =>
  foldEntries(read(records).entries).messages.map(({ role, content }) => `${role}: ${textOf(content)}`)

describe.each(talkFormats)('sessions of %s', (format) => {
  test('say what their maker knows', () => {
    const counts = [fc.nat(), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 2 })] as const
    fc.assert(
      fc.property(...counts, (seed, turns, compactions) => {
        const { records, truth } = generateTalk({ format, seed, turns, compactions })
        const { entries, format: found } = read(records)
        const heads = entries.map(readHead)
        const view = foldEntries(entries)
        const pieces = view.sources.flatMap((source) => source.pieces)
        expect(found).toBe(format)
        expect(saidIn(entries)).toEqual(truth.said)
        expect(heads.filter((head) => head.boundary).length).toBe(truth.compactions)
        expect(heads.reduce((sum, head) => sum + head.toolUses.length, 0)).toBe(truth.calls)
        const live = pieces.filter(({ origin }) => origin === 'human').map(({ content }) => textOf(content))
        expect(live).toEqual(truth.live)
        expect(pieces.filter(({ origin }) => origin === 'summary').length).toBe(Math.min(1, truth.compactions))
        const { messages } = repairRequest(view.messages)
        if (view.messages.length > 0) expect(checkRequest(messages)).toEqual([])
      }),
      { numRuns: 40 },
    )
  })
})

describe('the Copilot CLI', () => {
  const event = (id: string, type: string, data: JsonObject) => ({ id, type, data, parentId: null, timestamp: 't' })
  const start = event('s', 'session.start', { sessionId: 'x', context: { cwd: '/w' } })

  test('a rewind takes back the event it names and what followed', () => {
    expect(
      shown([
        start,
        event('a', 'user.message', { content: 'one' }),
        event('b', 'assistant.message', { messageId: 'm', content: 'yes' }),
        event('c', 'user.message', { content: 'two' }),
        event('r', 'session.snapshot_rewind', { upToEventId: 'c', eventsRemoved: 1 }),
        event('d', 'user.message', { content: 'three' }),
      ]),
    ).toEqual(['user: one', 'assistant: yes', 'user: three'])
  })

  test('what sub-agents do, and what the client says, is not the user’s', () => {
    const { entries } = read([
      start,
      event('a', 'user.message', { content: 'one' }),
      event('b', 'assistant.message', { messageId: 'm', content: 'inner', parentToolCallId: 'c1' }),
      event('c', 'user.message', { content: 'be quick', source: 'skill' }),
    ])
    expect(saidIn(entries)).toEqual(['one'])
    expect(JSON.stringify(foldEntries(entries).messages)).not.toContain('inner')
  })

  test('a failed tool is an error, and usage belongs to the answer before', () => {
    const { entries } = read([
      start,
      event('a', 'user.message', { content: 'one' }),
      event('b', 'assistant.message', {
        messageId: 'm',
        content: '',
        toolRequests: [{ toolCallId: 'c', name: 'bash', arguments: {} }],
      }),
      event('u', 'assistant.usage', { inputTokens: 100, cacheReadTokens: 80, outputTokens: 5 }),
      event('d', 'tool.execution_complete', { toolCallId: 'c', success: false, error: { message: 'no such file' } }),
    ])
    const usage = entries.map(({ record }) => messageOf(record)?.usage).find((found) => found !== undefined)
    expect(usage && contextTokens(usage)).toBe(105)
    const { messages } = foldEntries(entries)
    expect(blocksOf(messages[2]?.content)).toEqual([
      { type: 'tool_result', tool_use_id: 'c', content: 'no such file', is_error: true },
    ])
  })
})

describe('opencode', () => {
  const message = (id: string, role: string, parts: readonly JsonObject[], more: JsonObject = {}) => {
    return { info: { id, role, time: { created: 1 }, ...more }, parts }
  }
  const talk = (...messages: readonly JsonObject[]) => [{ info: { id: 's', directory: '/w' }, messages }]

  test('what opencode adds to a prompt is not the user’s, and a command that failed is an error', () => {
    const state = { status: 'completed', input: { command: 'npm test' }, output: 'no', metadata: { exit: 1 } }
    const { entries } = read(
      talk(
        message('a', 'user', [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'added', synthetic: true },
          { type: 'text', text: 'shown to the user only', ignored: true },
          { type: 'file', mime: 'text/plain', filename: 'a.ts' },
        ]),
        message('b', 'assistant', [{ type: 'tool', callID: 'c', tool: 'bash', state }]),
      ),
    )
    expect(saidIn(entries)).toEqual(['one\n[file a.ts]'])
    expect(JSON.stringify(entries)).not.toContain('shown to the user only')
    expect(blocksOf(foldEntries(entries).messages[2]?.content)).toEqual([
      { type: 'tool_result', tool_use_id: 'c', content: 'Exit code 1\nno', is_error: true },
    ])
  })

  test('after a compaction the context is the summary, what was kept, and what followed', () => {
    const said = (id: string, role: string, text: string) => message(id, role, [{ type: 'text', text }])
    const compacted = (request: JsonObject) =>
      shown(
        talk(
          said('a', 'user', 'one'),
          said('b', 'assistant', 'yes'),
          said('c', 'user', 'two'),
          said('d', 'assistant', 'sure'),
          message('e', 'user', [{ type: 'compaction', auto: true, ...request }]),
          message('f', 'assistant', [{ type: 'text', text: 'so far' }], { summary: true }),
          said('g', 'user', 'three'),
        ),
      )
    expect(compacted({ tail_start_id: 'c' })).toEqual(['user: so far\ntwo', 'assistant: sure', 'user: three'])
    expect(compacted({})).toEqual(['user: so far\nthree'])
  })

  test('the size before a compaction is that of the newest answer with a usage', () => {
    const said = (id: string, tokens: JsonObject) =>
      message(id, 'assistant', [{ type: 'text', text: 'yes' }], { tokens })
    const { entries } = read(
      talk(
        message('a', 'user', [{ type: 'text', text: 'one' }]),
        said('b', { input: 100, output: 20, reasoning: 3, cache: { read: 4_000, write: 500 } }),
        said('c', { input: 0, output: 0 }),
        message('d', 'user', [{ type: 'compaction', auto: true }]),
        message('e', 'assistant', [{ type: 'text', text: 'so far' }], { summary: true }),
      ),
    )
    expect(entries.flatMap((entry) => readHead(entry).boundary?.preTokens ?? [])).toEqual([4_623])
  })

  test('a compaction that failed changed nothing', () => {
    const failed = message('c', 'assistant', [{ type: 'text', text: 'half' }], { summary: true, error: { name: 'x' } })
    const request = message('b', 'user', [{ type: 'compaction', auto: false }])
    expect(shown(talk(message('a', 'user', [{ type: 'text', text: 'one' }]), request, failed))).toEqual(['user: one'])
  })
})

describe('the Gemini CLI', () => {
  const head = { sessionId: 'x', projectHash: 'y', startTime: 't', lastUpdated: 't' }
  const said = (id: string, type: string, content: string) => ({ id, type, content, timestamp: 't' })

  test('a rewind takes back the message it names and what followed', () => {
    const records = [head, said('a', 'user', 'one'), said('b', 'gemini', 'yes'), said('c', 'user', 'two')]
    expect(shown([...records, { $rewindTo: 'c' }, said('d', 'user', 'three')])).toEqual([
      ...['user: one', 'assistant: yes', 'user: three'],
    ])
    expect(shown([...records, { $rewindTo: 'a' }, said('d', 'user', 'three')])).toEqual(['user: three'])
  })

  test('an older session is one document', () => {
    const messages = [said('a', 'user', 'one'), said('i', 'info', 'Update available'), said('b', 'gemini', 'yes')]
    expect(shown([{ ...head, messages }])).toEqual(['user: one', 'assistant: yes'])
  })
})
