import { describe, expect, test } from 'vitest'
import { session } from '../../../testing/index.ts'
import type { JsonObject } from '../../message/json.ts'
import { createScanner, type Scan } from './scan.ts'

function scan(records: readonly JsonObject[]): Scan {
  const scanner = createScanner()
  for (const [at, record] of records.entries())
    scanner.add({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } })
  return scanner.finish()
}

describe('shapes of old clients', () => {
  const at = (uuid: string, parentUuid: string | null, more: JsonObject = {}): JsonObject => ({
    type: uuid.startsWith('u') ? 'user' : 'assistant',
    uuid,
    parentUuid,
    sessionId: 's',
    message: { role: 'user', content: uuid },
    ...more,
  })

  test('a compaction that calls itself automatic is an automatic one', () => {
    const boundary = {
      type: 'system',
      subtype: 'compact_boundary',
      uuid: 'b',
      parentUuid: null,
      compactMetadata: { trigger: 'automatic', preTokens: 10 },
    }
    const { epochs } = scan([at('u1', null), boundary, at('u2', 'b')])
    expect(epochs.map(({ openedBy }) => openedBy?.trigger)).toEqual([undefined, 'auto'])
  })

  test('in a file of nothing but a sub-agent its messages are counted, and beside a conversation they are not', () => {
    const side = session()
      .user('count')
      .assistant('one', { tokens: { input: 90, output: 10 } })
      .records.map((record): JsonObject => ({ ...record, isSidechain: true, agentId: 'x' }))
    const counts = (records: readonly JsonObject[]) =>
      scan(records).epochs.map(({ entries, messages, roots, tokensAtEnd }) => ({
        entries,
        messages,
        roots,
        tokensAtEnd,
      }))
    expect(counts(side)).toEqual([{ entries: 2, messages: 2, roots: 1, tokensAtEnd: 100 }])
    expect(counts([at('u9', null), ...side])).toEqual([{ entries: 1, messages: 1, roots: 1, tokensAtEnd: undefined }])
  })
})

describe('epochs', () => {
  test('opened by legacy records have one root: the message, not the records around it', () => {
    const legacy = (message: string, metadata?: JsonObject) => ({
      type: 'compact_system',
      uuid: message,
      message,
      metadata,
    })
    const { records } = session()
      .user('first')
      .raw(legacy('conversation_compacting'))
      .raw(legacy('conversation_compacted', { totalMessages: 500, compressionRatio: 0.03 }))
      .user('next', { parent: null, fields: { logicalParentUuid: 'u1' } })
      .raw(legacy('conversation_restored'))
    const { epochs } = scan(records)
    expect(epochs.map(({ roots, entries }) => ({ roots, entries }))).toEqual([
      { roots: 1, entries: 1 },
      { roots: 1, entries: 2 },
    ])
    expect(epochs[1]?.openedBy).toMatchObject({ totalMessages: 500, compressionRatio: 0.03 })
  })

  test('tell what opened them, how large the context was before and after, and what was said in them', () => {
    const built = session({ startTime: '2026-03-01T10:00:00.000Z' })
      .user('first')
      .assistant('one', { tokens: { input: 900, output: 100 } })
      .user('old friend')
      .assistant('two', { tokens: { input: 1900, output: 100 } })
      .boundary({ trigger: 'manual', preTokens: 2000, kept: ['u2', 'a2'] })
      .summary('so far, so good')
      .user('next')
      .assistant('three', { tokens: { input: 700, output: 50 } })
    const { epochs } = scan(built.records)
    expect(epochs.map(({ from: _, to: __, ...epoch }) => epoch)).toEqual([
      {
        number: 0,
        openedBy: undefined,
        entries: 4,
        messages: 4,
        humanTurns: 2,
        roots: 1,
        orphans: 0,
        tokensAtEnd: 2000,
      },
      {
        number: 1,
        openedBy: {
          uuid: 'b1',
          line: 5,
          trigger: 'manual',
          tokensBefore: 2000,
          tokensAfter: 700,
          durationMs: undefined,
          time: built.records[4]?.timestamp,
          kept: 2,
          summary: { uuid: 's1', characters: 15 },
        },
        entries: 4,
        messages: 3,
        humanTurns: 1,
        roots: 1,
        orphans: 0,
        tokensAtEnd: 750,
      },
    ])
  })

  test('a line that is written again, a boundary too, adds nothing', () => {
    const built = session()
      .user('first')
      .assistant('one', { tokens: { input: 900, output: 100 } })
      .boundary({})
      .summary('so far')
      .user('next')
    const once = scan(built.records)
    const twice = scan([...built.records, ...built.records.slice(0, 3)])
    expect(twice.epochs).toEqual(once.epochs)
    expect(twice.boundaries).toEqual(once.boundaries)
    expect(twice.turns).toEqual(once.turns)
  })

  test('what the client put into the mouth of the person is no turn of theirs', () => {
    const { records } = session()
      .user('typed')
      .user('<local-command-stdout>done</local-command-stdout>')
      .user('[Request interrupted by user]')
      .user('a reminder', { fields: { isMeta: true } })
      .user('from a task', { fields: { origin: { kind: 'task-notification' } } })
      .user('<command-name>/review</command-name>')
    expect(scan(records).epochs[0]?.humanTurns).toBe(2)
  })
})

describe('answers', () => {
  test('count once, with the figures of the line that has the most output', () => {
    const { records } = session()
      .assistant('a', { messageId: 'm', tokens: { input: 10, output: 1 } })
      .assistant('b', { messageId: 'm', tokens: { input: 10, output: 300 } })
      .assistant('c', { messageId: 'm', tokens: { input: 10, output: 2 } })
    expect(scan(records).answers).toMatchObject([{ messageId: 'm', usage: { input: 10, output: 300 } }])
  })

  test('that the client made up are not counted', () => {
    const { records } = session().assistant('No response requested.', { model: '<synthetic>' })
    expect(scan(records).answers).toEqual([])
  })
})

describe('types', () => {
  test('are counted, known or not, system records by their subtype', () => {
    const { records } = session()
      .user('hi')
      .system('turn_duration')
      .raw({ type: 'brand-new', x: 1 })
      .raw({ no: 'type' })
    expect([...scan(records).types]).toEqual([
      ['user', 1],
      ['system/turn_duration', 1],
      ['brand-new', 1],
      ['', 1],
    ])
  })
})

test('answers of sub-agents inside the file are no turns of the session', () => {
  const made = session()
    .user('go')
    .assistant('done', { tokens: { input: 1_000, output: 1 } })
  const side = { isSidechain: true, sessionId: 's' }
  const usage = { input_tokens: 90_000, output_tokens: 1 }
  const records = [
    ...made.records,
    { ...side, type: 'user', uuid: 'side-u', parentUuid: null, message: { role: 'user', content: 'look' } },
    {
      ...side,
      type: 'assistant',
      uuid: 'side-a',
      parentUuid: 'side-u',
      message: { id: 'msg_side', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'seen' }], usage },
    },
  ]
  expect(scan(records).turns.map(({ tokens }) => tokens)).toEqual([1_001])
})
