import { describe, expect, test } from 'vitest'
import { arrayAt, isObject, type JsonObject, numberAt, objectAt } from '../../core/message/json.ts'
import { type ClientStyle, generateSession } from '../index.ts'

const sessionOf = (style: ClientStyle) => [
  ...generateSession({
    seed: 31,
    style,
    turns: 60,
    boundaries: 2,
    subagents: 'inline',
    parallel: 0.5,
    kept: style === '2.1-late' ? 'before' : 'none',
  }),
]
const keysOf = (record: JsonObject | undefined) => Object.keys(record ?? {}).join(' ')
const blockOf = (record: JsonObject) => arrayAt(record.message, 'content').find(isObject)
const isResult = (record: JsonObject) => blockOf(record)?.type === 'tool_result'
const isPrompt = (record: JsonObject) =>
  record.type === 'user' &&
  typeof objectAt(record, 'message')?.content === 'string' &&
  record.isCompactSummary === undefined &&
  record.isSidechain === false
const start = 'parentUuid isSidechain'
const early = 'userType cwd sessionId version gitBranch'
const late = 'userType entrypoint cwd sessionId version gitBranch slug'

describe('key order', () => {
  const orders = (style: ClientStyle) => {
    const records = sessionOf(style).filter((record) => record.isSidechain !== true)
    const first = (test: (record: JsonObject) => boolean) => keysOf(records.find(test))
    const answer = records.find((record) => record.type === 'assistant')
    return {
      prompt: first((record) => isPrompt(record)),
      answer: keysOf(answer),
      message: keysOf(objectAt(answer, 'message')),
      usage: keysOf(objectAt(objectAt(answer, 'message'), 'usage')),
      result: first(isResult),
      boundary: first((record) => record.subtype === 'compact_boundary'),
      summary: first((record) => record.isCompactSummary === true),
    }
  }
  const sizes = 'input_tokens cache_creation_input_tokens cache_read_input_tokens'

  test('of 1.0', () => {
    expect(orders('1.0')).toEqual({
      prompt: `${start} ${early} type message uuid timestamp`,
      answer: `${start} ${early} message requestId type uuid timestamp`,
      message: 'id type role model content stop_reason stop_sequence usage',
      usage: `${sizes} cache_creation output_tokens service_tier`,
      result: `${start} ${early} type message uuid timestamp toolUseResult`,
      boundary: `parentUuid logicalParentUuid isSidechain ${early} type subtype content isMeta timestamp uuid level compactMetadata`,
      summary: `${start} ${early} type message isVisibleInTranscriptOnly isCompactSummary uuid timestamp`,
    })
  })

  test('of 2.0', () => {
    expect(orders('2.0')).toMatchObject({
      prompt: `${start} ${early} slug type message uuid timestamp thinkingMetadata todos`,
      message: 'model id type role content stop_reason stop_sequence usage',
      result: `${start} ${early} slug type message uuid timestamp toolUseResult`,
    })
  })

  test('of 2.1-early', () => {
    expect(orders('2.1-early')).toEqual({
      prompt: `${start} ${early} slug type message uuid timestamp thinkingMetadata todos permissionMode`,
      answer: `${start} ${early} slug message requestId type uuid timestamp`,
      message: 'model id type role content stop_reason stop_sequence usage',
      usage: `${sizes} cache_creation output_tokens service_tier`,
      result: `${start} ${early} slug type message uuid timestamp toolUseResult sourceToolAssistantUUID`,
      boundary: `parentUuid logicalParentUuid isSidechain ${early} slug type subtype content isMeta timestamp uuid level compactMetadata`,
      summary: `${start} ${early} slug type message isVisibleInTranscriptOnly isCompactSummary uuid timestamp`,
    })
  })

  test('of 2.1-late', () => {
    expect(orders('2.1-late')).toEqual({
      prompt: `${start} promptId type message uuid timestamp permissionMode origin promptSource ${late}`,
      answer: `${start} message requestId type uuid timestamp effort ${late}`,
      message: 'model id type role content stop_reason stop_sequence stop_details usage diagnostics',
      usage: `${sizes} output_tokens server_tool_use service_tier cache_creation inference_geo iterations speed`,
      result: `${start} promptId type message uuid timestamp toolUseResult sourceToolAssistantUUID ${late}`,
      boundary: `parentUuid logicalParentUuid isSidechain type subtype content level compactMetadata uuid timestamp ${late}`,
      summary: `${start} promptId type message isVisibleInTranscriptOnly isCompactSummary uuid timestamp ${late}`,
    })
  })
})

test('each style has its own kinds of record', () => {
  const kinds = (style: ClientStyle) => [...new Set(sessionOf(style).map((record) => record.type))].toSorted()
  expect(kinds('1.0')).toEqual(['assistant', 'summary', 'system', 'user'])
  expect(kinds('2.0')).toEqual(['assistant', 'file-history-snapshot', 'queue-operation', 'summary', 'system', 'user'])
  expect(kinds('2.1-early')).toEqual([
    'assistant',
    'file-history-snapshot',
    'progress',
    'queue-operation',
    'system',
    'user',
  ])
  expect(kinds('2.1-late')).toEqual([
    'ai-title',
    'assistant',
    'attachment',
    'file-history-snapshot',
    'last-prompt',
    'mode',
    'permission-mode',
    'queue-operation',
    'system',
    'user',
  ])
})

test('results hang on their calls from 2.1 on and follow one another before', () => {
  const named = (style: ClientStyle) => {
    const records = sessionOf(style).filter((record) => record.isSidechain === false)
    const callLines = new Map(records.map((record) => [blockOf(record)?.id, record.uuid]))
    const results = records.filter(isResult)
    return results.map((record) => record.parentUuid === callLines.get(blockOf(record)?.tool_use_id))
  }
  expect(new Set(named('2.1-late'))).toEqual(new Set([true]))
  expect(new Set(named('2.1-early'))).toEqual(new Set([true]))
  expect(new Set(named('2.0'))).toEqual(new Set([true, false]))
})

test('the lines of one answer repeat its usage; before 2.1.100 only the last has the whole output', () => {
  const outputs = (style: ClientStyle) => {
    const byMessage = new Map<unknown, number[]>()
    for (const record of sessionOf(style).filter((one) => one.type === 'assistant')) {
      const message = objectAt(record, 'message')
      const output = numberAt(objectAt(message, 'usage'), 'output_tokens') ?? 0
      byMessage.set(message?.id, [...(byMessage.get(message?.id) ?? []), output])
    }
    return [...byMessage.values()]
  }
  expect(outputs('2.1-late').filter((counts) => new Set(counts).size > 1)).toEqual([])
  const older = outputs('2.1-early')
  expect(older.filter((counts) => Math.max(...counts) !== counts.at(-1))).toEqual([])
  expect(older.some((counts) => new Set(counts).size > 1)).toBe(true)
})

test('a few percent of the lines hold more than ASCII, and some hold very much', () => {
  const lines = [...generateSession({ seed: 1, targetBytes: 20_000_000, boundaries: 7 })].map((record) =>
    JSON.stringify(record),
  )
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
  const foreign = lines.filter((line) => /[^\x00-\x7f]/.test(line)).length / lines.length
  const sizes = lines.map((line) => line.length).toSorted((a, b) => a - b)
  const at = (share: number) => sizes[Math.floor(sizes.length * share)] ?? 0
  expect(foreign).toBeGreaterThan(0.02)
  expect(foreign).toBeLessThan(0.1)
  expect(at(0.5)).toBeGreaterThan(500)
  expect(at(0.5)).toBeLessThan(1_500)
  expect(at(0.99)).toBeGreaterThan(5_000)
  expect(at(0.99)).toBeLessThan(30_000)
  expect(sizes.at(-1)).toBeGreaterThan(100_000)
})
