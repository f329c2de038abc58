import { describe, expect, test } from 'vitest'
import { emptyLedger } from '../ledger/facts.ts'
import { toJson } from '../ledger/json.ts'
import { viewOf } from '../mechanisms/testing/examples.ts'
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { discoveredTools, historyOf, ledgerWith } from './history.ts'
import type { CompactionJob } from './job.ts'
import { piecesOf } from './plan.ts'

const ledger = { messages: 7, exchanges: [{ kind: 'message', text: 'Earlier words.', last: 3 }] }
const records: readonly JsonObject[] = [
  {
    type: 'system',
    subtype: 'compact_boundary',
    uuid: 'b',
    parentUuid: null,
    compactMetadata: { trigger: 'auto', preTokens: 900, cumulativeDroppedTokens: 800 },
    everlong: { compaction: { ledger, chain: { turnId: 'turn-1' } } },
  },
  { type: 'user', uuid: 's', parentUuid: 'b', isCompactSummary: true, message: { role: 'user', content: 'In short.' } },
  { type: 'user', uuid: 'u', parentUuid: 's', message: { role: 'user', content: 'Fix it.' } },
  {
    type: 'assistant',
    uuid: 'a',
    parentUuid: 'u',
    message: {
      id: 'm',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [{ type: 'text', text: 'Done.' }],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
]
const jobOf = (some: readonly JsonObject[], more: Partial<CompactionJob> = {}): CompactionJob => ({
  trigger: 'manual',
  reason: 'manual',
  view: viewOf(some),
  recordOf: (uuid) => some.find((record) => record.uuid === uuid),
  threshold: 0,
  sessionId: 's',
  ...more,
})

describe('what a compaction continues from', () => {
  test('is read off the boundary before it', () => {
    const history = historyOf(jobOf(records))
    expect(history.summary).toContain('In short.')
    expect(history.chain).toEqual({
      isRecompaction: false,
      turnsSincePrevious: 1,
      previousTurnId: 'turn-1',
      threshold: 0,
      source: 'turn',
    })
    expect(history.dropped).toBe(800)
    expect(history.carried).toMatchObject({ messages: 7, exchanges: [{ text: 'Earlier words.' }] })
  })

  test('without a request since the last one it is a recompaction; without an earlier one it is none', () => {
    expect(historyOf(jobOf(records.slice(0, 2))).chain.isRecompaction).toBe(true)
    const first = historyOf(jobOf([{ ...records[2], parentUuid: null } as JsonObject]))
    expect(first).toMatchObject({
      chain: { isRecompaction: false },
      carried: emptyLedger,
      dropped: 0,
      summary: undefined,
    })
    expect(first.chain.turnsSincePrevious).toBe(undefined)
  })

  test('facts that the caller has are used instead', () => {
    const carried = { ...emptyLedger, messages: 3 }
    expect(historyOf(jobOf(records, { carried: () => carried })).carried).toBe(carried)
  })

  test('a walk to the boundary that never ends is given up', () => {
    const looping = records.map((record) => (record.uuid === 's' ? { ...record, parentUuid: 's' } : record))
    const job = { ...jobOf(records), recordOf: (uuid: string) => looping.find((record) => record.uuid === uuid) }
    expect(historyOf(job).carried).toEqual(emptyLedger)
  })
})

describe('the ledger of a compaction', () => {
  const talk: readonly JsonObject[] = [
    { type: 'user', uuid: 'u-1', parentUuid: null, message: { role: 'user', content: 'Fix the parser.' } },
    {
      type: 'assistant',
      uuid: 'a-1',
      parentUuid: 'u-1',
      message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'Working.' }] },
    },
    { type: 'user', uuid: 'u-2', parentUuid: 'a-1', message: { role: 'user', content: 'Now the lexer.' } },
  ]
  const wordsWith = (queued: CompactionJob['queued']) => {
    const job = jobOf(talk, queued ? { queued } : {})
    return ledgerWith(historyOf(job), job, piecesOf(job.view)).exchanges.map(({ text }) => text)
  }

  test('has queued words where they were typed, so that they are not taken for the latest request', () => {
    expect(wordsWith([{ text: 'and its tests', after: 'a-1' }])).toEqual([
      'Fix the parser.',
      'and its tests',
      'Now the lexer.',
    ])
    expect(
      wordsWith([
        { text: 'one', after: 'a-1' },
        { text: 'two', after: 'u-2' },
        { text: 'three', after: 'gone' },
        { text: 'four' },
      ]),
    ).toEqual(['Fix the parser.', 'one', 'Now the lexer.', 'two', 'three', 'four'])
  })

  test('does not read kept messages before the summary again, which would make an old todo list the newest', () => {
    const todo = (uuid: string, parentUuid: string | null, text: string): readonly JsonObject[] => {
      const input = { todos: [{ content: text, status: 'pending' }] }
      const call = { type: 'tool_use', id: `t-${uuid}`, name: 'TodoWrite', input }
      const result = { type: 'tool_result', tool_use_id: `t-${uuid}`, content: 'ok' }
      return [
        { type: 'assistant', uuid, parentUuid, message: { id: uuid, role: 'assistant', content: [call] } },
        { type: 'user', uuid: `r-${uuid}`, parentUuid: uuid, message: { role: 'user', content: [result] } },
      ]
    }
    const before = [...todo('old', null, 'Old'), ...todo('new', 'r-old', 'New')]
    const whole = jobOf(before)
    const facts = ledgerWith(historyOf(whole), whole, piecesOf(whole.view))
    const kept = { anchorUuid: 'b', uuids: ['old', 'r-old'] }
    const boundary = (own: JsonObject): JsonObject => ({
      ...{ type: 'system', subtype: 'compact_boundary', uuid: 'b', parentUuid: null, logicalParentUuid: 'r-new' },
      compactMetadata: { trigger: 'manual', preTokens: 9, preservedMessages: kept },
      everlong: { compaction: own },
    })
    const summary = { ...records[1], parentUuid: 'b' } as JsonObject
    const next = { type: 'user', uuid: 'u', parentUuid: 's', message: { role: 'user', content: 'Next.' } }
    const todosAfter = (own: JsonObject, more: Partial<CompactionJob> = {}) => {
      const job = jobOf([...before, boundary(own), summary, next], more)
      const pieces = piecesOf(job.view)
      expect(pieces.map(({ uuid }) => uuid)).toEqual(['old', 'r-old', 's', 'u'])
      return ledgerWith(historyOf(job), job, pieces).todos.map(({ text }) => text)
    }
    expect(todosAfter({ ledger: toJson(facts), ledgerHasKept: true })).toEqual(['New'])
    expect(todosAfter({}, { carried: () => facts })).toEqual(['New'])
    // A boundary of another client carries no facts, so only the kept messages are known.
    expect(todosAfter({})).toEqual(['Old'])
  })
})

test('tools that a search referred to have been discovered, each once', () => {
  const result = (...names: readonly string[]): ViewMessage => ({
    role: 'user',
    origin: 'tool-result',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: [
          { type: 'text', text: 'found' },
          ...names.map((tool_name) => ({ type: 'tool_reference', tool_name })),
        ],
      },
    ],
  })
  expect(discoveredTools([result('WebFetch', 'Cron'), result('Cron')])).toEqual(['WebFetch', 'Cron'])
})
