import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from 'everlong/internal'
import { expect, test } from 'vitest'
import { tourSession } from './tour/story.ts'

const records = tourSession()
  .trimEnd()
  .split('\n')
  .map((line): JsonObject => JSON.parse(line))
const callsOf = (all: readonly JsonObject[]) =>
  JSON.stringify(all).match(/"type":"tool_use","id":"\w+","name":"\w+"/g) ?? []

test('the checked-in session is the one the script makes', async () => {
  const stored = await readFile(new URL('../cli/assets/tour.jsonl', import.meta.url), 'utf8')
  expect(stored === tourSession(), 'run: node scripts/make-tour-session.ts').toBe(true)
})

test('it is small enough to be carried along', () => {
  expect(Buffer.byteLength(tourSession())).toBeLessThan(300_000)
})

test('it has two compactions, the second of which keeps messages that lie before it', () => {
  const boundaries = records.filter((record) => record.subtype === 'compact_boundary')
  const metadata = boundaries.map((record) => record.compactMetadata as JsonObject)
  expect(metadata.map(({ trigger, preservedMessages }) => [trigger, preservedMessages !== undefined])).toEqual([
    ['manual', false],
    ['auto', true],
  ])
  const kept = metadata[1]?.preservedMessages as { readonly uuids: readonly string[] } | undefined
  const at = records.indexOf(boundaries[1] ?? {})
  expect(kept?.uuids.filter((uuid) => !records.slice(0, at).some((record) => record.uuid === uuid))).toEqual([])
})

test('every parent is an earlier line', () => {
  const seen = new Set<unknown>([null])
  const orphans = records.filter((record) => {
    seen.add(record.uuid)
    return record.parentUuid !== undefined && !seen.has(record.parentUuid)
  })
  expect(orphans).toEqual([])
})

test('after the last compaction the same file is read again unchanged, so there is something to reduce', () => {
  const live = records.slice(records.findLastIndex((record) => record.subtype === 'compact_boundary'))
  const readings = live.flatMap(
    (record) => (record.toolUseResult as { readonly file?: JsonObject } | undefined)?.file ?? [],
  )
  const repeated = readings.filter((file, index) =>
    readings.some((other, place) => place < index && isDeepStrictEqual(file, other)),
  )
  expect(repeated.length).toBeGreaterThan(0)
})

test('it has a sub-agent, a list of things to do and errors', () => {
  const names = new Set(callsOf(records).map((call) => call.split('"').at(-2)))
  expect([...names].toSorted()).toEqual(['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Task', 'TodoWrite', 'Write'])
  expect(JSON.stringify(records).match(/"is_error":true/g)?.length).toBe(2)
})
