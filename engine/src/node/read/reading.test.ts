import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../core/message/json.ts'
import { readHead } from '../../core/transcript/format/entry.ts'
import { tallyOf } from '../../core/transcript/report/findings.ts'
import { isSidechainAt, typeAt } from '../../core/transcript/tree/graph.ts'
import { liveWindow } from '../../core/transcript/tree/live.ts'
import {
  clientStyles,
  corrupt,
  generateWithTruth,
  keptLayouts,
  random,
  type SessionOptions,
  serialize,
} from '../../testing/index.ts'
import { openIndex } from '../index/sidecar.ts'
import { forEachEntry, scanFile } from './entries.ts'
import { openLive } from './transcript.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-reading-'))
const cache = join(folder, 'cache')
process.env.EVERLONG_CACHE_DIR = cache
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const write = (bytes: string | Uint8Array): string => {
  const path = join(folder, `${++files}.jsonl`)
  writeFileSync(path, bytes)
  return path
}
const readAll = (path: string): readonly JsonObject[] => {
  const records: JsonObject[] = []
  forEachEntry(path, ({ record }) => records.push(record))
  return records
}

const sessions = fc.record({
  seed: fc.nat(),
  style: fc.constantFrom(...clientStyles),
  kept: fc.constantFrom(...keptLayouts),
  turns: fc.integer({ min: 1, max: 8 }),
  boundaries: fc.integer({ min: 0, max: 4 }),
  subagents: fc.constantFrom('none', 'inline'),
  images: fc.boolean(),
  interrupted: fc.constantFrom(0, 0.3),
  parallel: fc.constantFrom(0, 0.6),
}) satisfies fc.Arbitrary<SessionOptions>

describe('a generated session', () => {
  test('written and read back is identical', () => {
    fc.assert(
      fc.property(sessions, (options) => {
        const { records } = generateWithTruth(options)
        expect(readAll(write(records.map(serialize).join('')))).toEqual(records)
      }),
      { numRuns: 25 },
    )
  })

  test('has the live window, the epochs and the answers that its maker knows', () => {
    fc.assert(
      fc.property(sessions, (options) => {
        const { records, truth } = generateWithTruth(options)
        const path = write(records.map(serialize).join(''))
        const live = openLive(path)
        const { uuids, trailing: _, ...counts } = truth.live
        expect(new Set(live.entries.map(({ record }) => record.uuid))).toEqual(new Set(uuids))
        expect(tallyOf(live.entries)).toEqual({ ...counts, entries: uuids.length })
        if (options.parallel === 0) expect(live.entries.map(({ record }) => record.uuid)).toEqual(uuids)

        const scan = scanFile(path)
        expect(scan.boundaries.length).toBe(truth.boundaries)
        expect(
          scan.epochs.map(({ entries, openedBy: by }) => ({
            entries,
            ...(by ? { uuid: by.uuid, trigger: by.trigger, preTokens: by.tokensBefore, kept: by.kept } : {}),
          })),
        ).toEqual(
          truth.epochs.map(({ entries, boundary: by }) => ({
            entries,
            ...(by ? { uuid: by.uuid, trigger: by.trigger, preTokens: by.preTokens, kept: by.kept.length } : {}),
          })),
        )
        const answers = new Map(scan.answers.map(({ messageId, usage }) => [messageId, usage.output]))
        expect(answers).toEqual(new Map(truth.answers.map(({ messageId, usage }) => [messageId, usage.output_tokens])))
      }),
      { numRuns: 60 },
    )
  })

  test('opens from its tail to the very window that reading all of it gives', () => {
    fc.assert(
      fc.property(sessions, fc.integer({ min: 0, max: 3 }), (options, copies) => {
        const { records } = generateWithTruth({ ...options, turns: options.turns + copies * 20 })
        const path = write(records.map(serialize).join(''))
        const heads = records.map((record, at) =>
          readHead({ record, position: { line: at, offset: at, length: 1, nth: 0 } }),
        )
        expect(openLive(path).entries.map(({ record }) => record)).toEqual(
          liveWindow(heads).order.map((row) => records[row]),
        )
      }),
      { numRuns: 30 },
    )
  })

  test('has the same rows in its index as in a full scan, made at once or extended after it grew', () => {
    fc.assert(
      fc.property(sessions, fc.double({ min: 0, max: 1, noNaN: true }), (options, share) => {
        const lines = generateWithTruth(options).records.map(serialize)
        const path = write(lines.slice(0, Math.floor(lines.length * share)).join(''))
        openIndex(path, { folder: cache })
        writeFileSync(path, lines.join(''))
        const index = openIndex(path, { folder: cache })
        const { table } = scanFile(path)
        for (const found of [index, openIndex(path, { folder: cache }), openIndex(path, { folder: false })]) {
          expect(found.rows).toBe(table.rows)
          for (const [id, row] of table.ids) expect(found.find(id)?.row).toBe(row)
          for (let row = 0; row < table.rows; row++) {
            expect(found.row(row)).toMatchObject({
              offset: table.offsets[row],
              line: table.lines[row],
              parent: table.parents[row],
              contextTokens: table.contextTokens[row],
            })
          }
        }
      }),
      { numRuns: 20 },
    )
  })
})

describe('a line of an unusual shape', () => {
  const uuid = '11111111-2222-4333-8444-555555555555'
  const parent = '99999999-2222-4333-8444-555555555555'
  const start = `{"parentUuid":"${parent}","isSidechain":false`
  const stamp = `"uuid":"${uuid}","timestamp":"2026-03-02T09:00:07.105Z"`
  const counts = (output: number) => `"input_tokens":1,"output_tokens":${output},"cache_read_input_tokens":3`
  const iteration = (type: string, output: number) =>
    `{${counts(output)},"cache_creation_input_tokens":4,"cache_creation":{"a":4},"type":"${type}"}`
  const answer = (usage: string) =>
    `${start},"message":{"id":"m","role":"assistant","content":[],"usage":{${usage}}},"type":"assistant",${stamp}}`
  const top = '"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":40'
  test.each([
    ['a uuid that is shorter than any', `${start},"type":"user","uuid":"x"}`],
    ['a uuid in capital letters', `${start},"type":"attachment","attachment":{},"uuid":"${uuid.toUpperCase()}"}`],
    ['a parent that is no uuid', `{"parentUuid":"x","isSidechain":true,"type":"user","message":{},${stamp}}`],
    ['itself as its parent', `{"parentUuid":"${uuid}","isSidechain":true,"type":"user","message":{},${stamp}}`],
    ['a tool result that holds a record', `${start},"type":"user","message":{},${stamp},"toolUseResult":{${stamp}}}`],
    ['a message that holds a uuid', `${start},"type":"user","message":{"a":{},"uuid":"x"},${stamp}}`],
    ['no usage', `${start},"message":{"id":"m","role":"assistant"},"type":"assistant",${stamp}}`],
    ['a usage of nothing', answer('"input_tokens":0,"output_tokens":0')],
    ['a usage of its own order', answer('"output_tokens":5,"input_tokens":6')],
    ['a usage with a fraction', answer(`${top}.5`)],
    ['a usage and no list of iterations', answer(top)],
    ['an empty list of iterations', answer(`${top},"iterations":[]`)],
    ['an iteration', answer(`${top},"iterations":[${iteration('message', 2)}]`)],
    ['an iteration that compacted', answer(`${top},"iterations":[${iteration('compaction', 2)}]`)],
    ['two iterations', answer(`${top},"iterations":[${iteration('message', 2)},${iteration('message', 9)}]`)],
    ['an iteration that begins with its type', answer(`${top},"iterations":[{"type":"message",${counts(7)}}]`)],
    [
      'a second record',
      `${start},"type":"user","message":{"content":"cut${start},"type":"user","message":{},${stamp}}`,
    ],
    [
      'a cut result and a side entry',
      `${start},"type":"user","message":{},${stamp},"toolUseResult":{"a":"{"type":"permission-mode","permissionMode":"plan"}`,
    ],
    ['a side entry with a uuid', `{"type":"note","uuid":"${uuid}"}`],
    ['two side entries', '{"type":"mode","mode":"a"}{"type":"mode","mode":"b"}'],
  ])('%s has the same row in the index as in a full scan', (_, line) => {
    const before = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{},"uuid":"${parent}"}`
    const path = write([before, line, line, ''].join('\n'))
    const { table } = scanFile(path)
    const index = openIndex(path, { folder: false })
    const rows = Array.from({ length: table.rows }, (__, row) => ({
      row,
      offset: table.offsets[row],
      length: table.lengths[row],
      line: table.lines[row],
      nth: table.nth[row],
      type: typeAt(table, row),
      sidechain: isSidechainAt(table, row),
      parent: table.parents[row],
      contextTokens: table.contextTokens[row],
    }))
    expect(Array.from({ length: index.rows }, (__, row) => index.row(row))).toEqual(rows)
    expect(index.find(uuid)?.row ?? -1).toBe(table.ids.get(uuid) ?? -1)
  })
})

describe('a damaged file', () => {
  test('keeps every record that is whole in its bytes, whatever happened to its neighbours', {
    timeout: 90_000,
  }, () => {
    fc.assert(
      fc.property(sessions, fc.nat(), (options, seed) => {
        const { bytes, records } = corrupt(generateWithTruth(options).records, seed)
        const path = write(bytes)
        expect(readAll(path)).toEqual(records)
        const { table } = scanFile(path)
        const index = openIndex(path, { folder: false })
        expect(index.rows).toBe(records.length)
        for (const [row, record] of records.entries()) {
          const first = typeof record.uuid === 'string' ? index.find(record.uuid) : index.row(row)
          expect(first?.row).toBe(typeof record.uuid === 'string' ? table.ids.get(record.uuid) : row)
          expect(index.row(row)?.parent).toBe(table.parents[row])
        }
      }),
      { numRuns: 60 },
    )
  })

  test('of any bytes whatever is opened, scanned, indexed and checked without a crash', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(), (noise, seed) => {
        const lines = generateWithTruth({ seed, turns: 1 }).records.slice(0, 6).map(serialize)
        const at = random(seed).int(0, lines.length)
        const bytes = Buffer.concat([
          Buffer.from(lines.slice(0, at).join('')),
          noise,
          Buffer.from(`\n${lines.slice(at).join('')}`),
        ])
        const path = write(bytes)
        const records = readAll(path)
        for (const line of lines) expect(records).toContainEqual(JSON.parse(line))
        expect(openLive(path).entries.length).toBeGreaterThan(0)
        expect(scanFile(path).records).toBe(records.length)
        expect(openIndex(path, { folder: false }).rows).toBe(records.length)
      }),
      { numRuns: 100 },
    )
  })

  test('cut at any byte loses at most the record that was cut', () => {
    const lines = generateWithTruth({ seed: 3, turns: 2, boundaries: 1, kept: 'before' })
      .records.slice(0, 30)
      .map(serialize)
    const bytes = Buffer.from(lines.join(''))
    const path = write(bytes)
    const ends = lines.map((_, at) => Buffer.byteLength(lines.slice(0, at + 1).join('')))
    for (let size = bytes.length; size >= 0; size -= size % 97 === 0 ? 1 : 13) {
      truncateSync(path, size)
      // A record is complete if only its newline is missing.
      const whole = ends.filter((end) => end - 1 <= size).length
      expect(readAll(path).length).toBe(whole)
      expect(openIndex(path, { folder: false }).rows).toBe(whole)
    }
  })
})
