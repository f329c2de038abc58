import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import {
  clientStyles,
  generateSession,
  generateWithTruth,
  keptLayouts,
  type SessionOptions,
  serialize,
  streamWithTruth,
} from '../index.ts'

const bytesOf = (options: SessionOptions) => [...generateSession(options)].map(serialize).join('')
const treeOf = (records: readonly JsonObject[]) => records.filter((record) => record.uuid !== undefined)
const blocksOf = (record: JsonObject) => arrayAt(record.message, 'content').filter(isObject)
const inputSide = (usage: JsonObject) =>
  (numberAt(usage, 'input_tokens') ?? 0) +
  (numberAt(usage, 'cache_read_input_tokens') ?? 0) +
  (numberAt(usage, 'cache_creation_input_tokens') ?? 0)

test('the same seed gives the same bytes, another seed others', () => {
  const options = { seed: 11, boundaries: 2, turns: 4, subagents: 'inline', images: true } as const
  expect(bytesOf(options)).toBe(bytesOf(options))
  expect(bytesOf(options)).not.toBe(bytesOf({ ...options, seed: 12 }))
})

test('truth comes with the same records as the lazy generator gives, all at once or in a stream', () => {
  const options = { seed: 4, boundaries: 1, kept: 'after' } as const
  const stream = streamWithTruth(options)
  expect({ records: [...stream.records], truth: stream.truth() }).toEqual(generateWithTruth(options))
  expect(generateWithTruth(options).records).toEqual([...generateSession(options)])
})

describe.each(clientStyles)('style %s', (style) => {
  const options = {
    seed: 21,
    style,
    turns: 8,
    boundaries: 2,
    subagents: 'inline',
    interrupted: 0.2,
    parallel: 0.5,
  } as const

  test('ids are unique and every parent is an earlier line, or none', () => {
    const seen = new Set<unknown>([null])
    for (const record of treeOf([...generateSession(options)])) {
      expect(seen.has(record.uuid)).toBe(false)
      expect(seen.has(record.parentUuid), `${record.type} ${record.uuid}`).toBe(true)
      seen.add(record.uuid)
    }
  })

  test('only roots, boundaries and sub-agents have no parent', () => {
    const { records, truth } = generateWithTruth(options)
    const roots = treeOf(records).filter((record) => record.parentUuid === null)
    expect(roots.map((record) => record.uuid).toSorted()).toEqual(
      [
        treeOf(records)[0]?.uuid,
        ...truth.epochs.flatMap((epoch) => epoch.boundary?.uuid ?? []),
        ...truth.sidechains.map((sidechain) => sidechain.uuids[0]),
      ].toSorted(),
    )
  })

  test('the truth counts what is in the file', () => {
    const { records, truth } = generateWithTruth(options)
    const main = treeOf(records).filter((record) => record.isSidechain === false)
    expect(truth.boundaries).toBe(2)
    expect(records.filter((record) => record.subtype === 'compact_boundary').length).toBe(2)
    expect(truth.epochs.reduce((sum, epoch) => sum + epoch.entries, 0)).toBe(main.length)
    const sidechain = treeOf(records).filter((record) => record.isSidechain === true)
    expect(truth.sidechains.flatMap((one) => one.uuids)).toEqual(sidechain.map((record) => record.uuid))
    expect(sidechain.length).toBeGreaterThan(0)
  })

  test('every answer is listed once, with the usage of its last line', () => {
    const { records, truth } = generateWithTruth(options)
    const last = new Map<string, unknown>()
    for (const record of records) {
      const message = objectAt(record, 'message')
      if (record.type === 'assistant') last.set(stringAt(message, 'id') ?? '', objectAt(message, 'usage'))
    }
    expect(new Map(truth.answers.map((answer) => [answer.messageId, answer.usage]))).toEqual(last)
    expect(truth.answers.length).toBe(last.size)
  })

  test('every call in view has one result but for those the human stopped', () => {
    const { records, truth } = generateWithTruth({ ...options, boundaries: 0 })
    const byUuid = new Map(records.map((record) => [record.uuid, record]))
    const blocks = truth.live.uuids.flatMap((uuid) => blocksOf(byUuid.get(uuid) ?? {}))
    const stops = blocks.filter((block) => block.text === '[Request interrupted by user for tool use]').length
    const calls = blocks.filter((block) => block.type === 'tool_use').map((block) => block.id)
    const results = blocks.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id)
    expect(new Set(results).size).toBe(results.length)
    expect(calls.filter((id) => !results.includes(id)).length).toBe(stops)
    expect([truth.live.toolUses, truth.live.toolResults, truth.live.unpaired]).toEqual([
      calls.length,
      results.length,
      stops,
    ])
  })

  test('the context grows within an epoch and the boundary says what it was', () => {
    const { truth } = generateWithTruth({ seed: 9, style, turns: 12, boundaries: 2, windowTokens: 150_000 })
    truth.epochs.forEach((_, index) => {
      const totals = truth.answers
        .filter((answer) => answer.epoch === index && !answer.sidechain)
        .map((answer) => inputSide(answer.usage))
      expect(totals).toEqual(totals.toSorted((a, b) => a - b))
      const next = truth.epochs[index + 1]?.boundary
      if (!next) return
      expect(next.preTokens / (totals.at(-1) ?? 0)).toBeCloseTo(1.005, 2)
      expect(next.preTokens).toBeGreaterThan(120_000)
      expect(next.preTokens).toBeLessThan(151_000)
    })
  })

  test('a target size is met within five percent, with all its boundaries', () => {
    for (const targetBytes of [400_000, 6_000_000]) {
      const lines = [...generateSession({ seed: 5, style, targetBytes, boundaries: 3 })].map(serialize)
      const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
      expect(Math.abs(bytes / targetBytes - 1)).toBeLessThan(0.05)
      expect(lines.filter((line) => line.includes('"subtype":"compact_boundary"')).length).toBe(3)
    }
  })
})

describe.each(keptLayouts)('kept layout %s', (kept) => {
  const shape = (seed: number) => {
    const { records, truth } = generateWithTruth({ seed, turns: 4, boundaries: 1, kept, parallel: 0.5 })
    const at = records.findIndex((record) => record.subtype === 'compact_boundary')
    const boundary = records[at] ?? {}
    const metadata = objectAt(boundary, 'compactMetadata') ?? {}
    const index = (uuid: unknown) => records.findIndex((record) => record.uuid === uuid)
    return { records, truth, at, boundary, summary: records[at + 1] ?? {}, metadata, index }
  }

  test.each([1, 2, 3, 4, 5, 6])('has the shape of the schema sheet (seed %i)', (seed) => {
    const { records, truth, at, boundary, summary, metadata, index } = shape(seed)
    expect(summary).toMatchObject({
      parentUuid: boundary.uuid,
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
    })
    const keptUuids = truth.epochs[1]?.boundary?.kept ?? []
    if (kept === 'none') {
      expect([keptUuids, metadata.preservedMessages]).toEqual([[], undefined])
      expect(truth.live.uuids.slice(0, 2)).toEqual([boundary.uuid, summary.uuid])
      expect(records[at + 2]?.parentUuid).toBe(summary.uuid)
      return
    }
    const [head, tail] = [keptUuids[0], keptUuids.at(-1)]
    expect(metadata.preservedSegment).toEqual({ headUuid: head, anchorUuid: summary.uuid, tailUuid: tail })
    expect(objectAt(metadata, 'preservedMessages')).toMatchObject({ anchorUuid: summary.uuid, uuids: keptUuids })
    expect(boundary.logicalParentUuid).toBe(tail)
    expect(truth.live.uuids.slice(0, keptUuids.length + 2)).toEqual([boundary.uuid, summary.uuid, ...keptUuids])
    const next = records
      .slice(at + 2)
      .find((record) => record.uuid !== undefined && !keptUuids.includes(stringAt(record, 'uuid') ?? ''))
    expect(next?.parentUuid).toBe(kept === 'before' ? summary.uuid : tail)
    expect(keptUuids.every((uuid) => (kept === 'after' ? index(uuid) > at : index(uuid) < at))).toBe(true)
    if (kept === 'after') expect(records[index(head)]?.parentUuid).toBe(summary.uuid)
  })

  test('the answer that is kept is kept whole', () => {
    const { truth, records } = shape(8)
    const keptUuids = truth.epochs[1]?.boundary?.kept ?? []
    const blocks = records.filter((record) => keptUuids.includes(stringAt(record, 'uuid') ?? '')).flatMap(blocksOf)
    const calls = blocks.filter((block) => block.type === 'tool_use').map((block) => block.id)
    const results = blocks.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id)
    expect(results.toSorted()).toEqual(calls.toSorted())
  })
})

describe('what is asked for is what comes', () => {
  test('own prompts, in turn and from the first again', () => {
    const human = ['First, look around.', 'Then mend it.']
    const records = [...generateSession({ seed: 1, turns: 5, human, style: '1.0' })]
    const prompts = records
      .map((record) => objectAt(record, 'message')?.content)
      .filter((content) => typeof content === 'string')
    expect(prompts).toEqual([human[0], human[1], human[0], human[1], human[0]])
  })

  test('model and time of start', () => {
    const records = [...generateSession({ seed: 1, model: 'claude-haiku-4-5', startTime: '2025-12-24T18:00:00.000Z' })]
    const models = records
      .filter((record) => record.type === 'assistant')
      .map((record) => objectAt(record, 'message')?.model)
    expect(new Set(models)).toEqual(new Set(['claude-haiku-4-5']))
    expect(stringAt(treeOf(records)[0], 'timestamp')?.slice(0, 16)).toBe('2025-12-24T18:00')
  })

  test('images in prompts and results, the latter stored twice', () => {
    const text = bytesOf({ seed: 1, turns: 40, images: true })
    expect(text).toContain('"type":"image","source":{"type":"base64"')
    expect(text).toContain('"toolUseResult":{"type":"image","file":{"base64"')
    expect(bytesOf({ seed: 1, turns: 40 })).not.toContain('"type":"image"')
  })

  test('microcompactions are links of the chain and name calls that have their results', () => {
    const { records, truth } = generateWithTruth({ seed: 2, style: '2.1-early', turns: 12, microcompact: true })
    expect(truth.microcompacts.length).toBeGreaterThan(0)
    expect(truth.live.uuids).toEqual(expect.arrayContaining(truth.microcompacts.map((micro) => micro.uuid)))
    const results = new Set(records.flatMap(blocksOf).map((block) => block.tool_use_id))
    expect(truth.microcompacts.flatMap((micro) => micro.compactedToolIds).filter((id) => !results.has(id))).toEqual([])
  })

  test('progress lines only where they are wanted', () => {
    const has = (progress: boolean) =>
      bytesOf({ seed: 3, style: '2.1-early', turns: 10, progress }).includes('"type":"progress"')
    expect([has(true), has(false)]).toEqual([true, false])
  })
})

test('whatever is asked for, ids are unique, parents are earlier lines and the truth adds up', () => {
  const options = fc.record({
    seed: fc.integer(),
    style: fc.constantFrom(...clientStyles),
    kept: fc.constantFrom(...keptLayouts),
    turns: fc.integer({ min: 1, max: 5 }),
    boundaries: fc.integer({ min: 0, max: 3 }),
    subagents: fc.constantFrom('none', 'inline'),
    progress: fc.boolean(),
    microcompact: fc.boolean(),
    parallel: fc.double({ min: 0, max: 1, noNaN: true }),
    interrupted: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(options, (drawn) => {
      const { records, truth } = generateWithTruth(drawn)
      const tree = treeOf(records)
      const place = new Map(tree.map((record, index) => [record.uuid, index]))
      expect(place.size).toBe(tree.length)
      expect(
        tree.filter(
          (record, index) => record.parentUuid !== null && !((place.get(record.parentUuid) ?? index) < index),
        ),
      ).toEqual([])
      expect(truth.boundaries).toBe(drawn.boundaries)
      expect(new Set(truth.live.uuids).size).toBe(truth.live.uuids.length)
      expect(truth.live.uuids.filter((uuid) => !place.has(uuid))).toEqual([])
      expect(truth.live.toolUses - truth.live.toolResults).toBe(truth.live.unpaired)
      const main = tree.filter((record) => record.isSidechain === false)
      expect(truth.epochs.reduce((sum, epoch) => sum + epoch.entries, 0)).toBe(main.length)
    }),
    { numRuns: 60 },
  )
})
