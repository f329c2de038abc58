import { describe, expect, test } from 'vitest'
import { arrayAt, isObject, objectAt, stringAt } from '../../core/message/json.ts'
import { generateCodexRollout, generatePiSession } from '../index.ts'

describe.each([1, 3] as const)('pi, version %i', (version) => {
  const { records, truth } = generatePiSession({ seed: 3, version, turns: 7, compactions: 2 })

  test('is the same for the same seed and another for another', () => {
    expect(generatePiSession({ seed: 3, version, turns: 7, compactions: 2 }).records).toEqual(records)
    expect(generatePiSession({ seed: 4, version, turns: 7, compactions: 2 }).records).not.toEqual(records)
  })

  test('every call has its result', () => {
    const messages = records.map((record) => record.message).filter(isObject)
    const calls = messages
      .flatMap((message) => arrayAt(message, 'content').filter(isObject))
      .filter((block) => block.type === 'toolCall')
    const results = messages.filter((message) => message.role === 'toolResult')
    expect(results.map((result) => result.toolCallId)).toEqual(calls.map((call) => call.id))
  })

  test('a compaction points at the first message it keeps, which a human typed', () => {
    const compactions = records.filter((record) => record.type === 'compaction')
    const kept = compactions.map((record) =>
      version === 1
        ? records[Number(record.firstKeptEntryIndex)]
        : records.find((one) => one.id === record.firstKeptEntryId),
    )
    expect(compactions.length).toBe(2)
    expect(kept.map((record) => objectAt(record, 'message')?.role)).toEqual(['user', 'user'])
    expect(truth.live[0]).toBe(records.findLastIndex((record) => record.type === 'compaction'))
    expect(records[truth.live[1] ?? 0]).toBe(kept[1])
  })

  test('version 3 lines are linked, version 1 lines have no ids', () => {
    const links = records.slice(1).map((record) => [record.id, record.parentId])
    if (version === 1) expect(new Set(links.flat())).toEqual(new Set([undefined]))
    else expect(links.map(([, parent]) => parent)).toEqual([null, ...links.slice(0, -1).map(([id]) => id)])
  })
})

describe('Codex', () => {
  const { records, truth } = generateCodexRollout({ seed: 5, turns: 6, compactions: 2 })
  const payloads = records.map((record) => objectAt(record, 'payload') ?? {})

  test('is the same for the same seed and another for another', () => {
    expect(generateCodexRollout({ seed: 5, turns: 6, compactions: 2 }).records).toEqual(records)
    expect(generateCodexRollout({ seed: 6, turns: 6, compactions: 2 }).records).not.toEqual(records)
  })

  test('every call has its output', () => {
    const ids = (ending: string) =>
      payloads.filter((payload) => stringAt(payload, 'type')?.endsWith(ending)).map((payload) => payload.call_id)
    expect(ids('call_output')).toEqual(ids('call'))
    expect(ids('call').length).toBe(truth.calls)
  })

  test('the view is the last replacement and the items after it', () => {
    const at = records.findLastIndex((record) => record.type === 'compacted')
    const after = records.slice(at).filter((record) => record.type === 'response_item')
    expect(truth.compactions).toBe(2)
    expect(truth.live).toEqual([
      ...arrayAt(payloads[at], 'replacement_history'),
      ...after.map((record) => record.payload),
    ])
  })

  test('a compaction is followed by its context, a count and its event', () => {
    const at = records.findIndex((record) => record.type === 'compacted')
    const next = records.slice(at, at + 4).map((record) => [record.type, objectAt(record, 'payload')?.type])
    expect(next).toEqual([
      ['compacted', undefined],
      ['turn_context', undefined],
      ['event_msg', 'token_count'],
      ['event_msg', 'context_compacted'],
    ])
  })
})
