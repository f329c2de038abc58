import { describe, expect, test } from 'vitest'
import { type CorruptionKind, corrupt, corruptionKinds, generateSession, serialize } from './index.ts'

const records = [...generateSession({ seed: 2, turns: 4, boundaries: 1 })]
const seeds = [1, 2, 3, 4, 5]
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const latin = (record: (typeof records)[number]) => Buffer.from(serialize(record).trim()).toString('latin1')

describe.each(corruptionKinds)('%s', (kind: CorruptionKind) => {
  test.each(seeds)('leaves every survivor whole in the bytes, in order (seed %i)', (seed) => {
    const broken = corrupt(records, seed, [kind])
    const text = textOf(broken.bytes)
    let at = 0
    for (const record of broken.records) {
      const found = text.indexOf(latin(record), at)
      expect(found).toBeGreaterThanOrEqual(at)
      at = found + latin(record).length
    }
    expect(broken.applied).toEqual([kind])
    expect(broken.survivors).toEqual([...new Set(broken.records.flatMap((record) => record.uuid ?? []))])
  })

  test.each(seeds)('costs a record only where one was cut (seed %i)', (seed) => {
    const broken = corrupt(records, seed, [kind])
    const extra = kind === 'duplicate-uuid' ? 1 : 0
    const cuts = kind === 'cut-and-continued' || kind === 'torn-last' ? 1 : 0
    expect(broken.records.length).toBe(records.length + extra - cuts)
  })

  test('is the same for the same seed', () => {
    expect(corrupt(records, 7, [kind])).toEqual(corrupt(records, 7, [kind]))
  })
})

test('what is lost is in the bytes no longer', () => {
  const tree = records.filter((record) => record.uuid !== undefined)
  const broken = corrupt(tree, 3, ['torn-last', 'cut-and-continued'])
  const text = textOf(broken.bytes)
  const lost = tree.filter((record) => !broken.records.includes(record))
  expect(lost.length).toBe(2)
  expect(lost.filter((record) => text.includes(latin(record)))).toEqual([])
  expect(broken.lost).toEqual(lost.flatMap((record) => record.uuid ?? []))
})

test('all kinds at once leave the survivors whole', () => {
  for (const seed of seeds) {
    const broken = corrupt(records, seed)
    const text = textOf(broken.bytes)
    expect(broken.records.filter((record) => !text.includes(latin(record)))).toEqual([])
    expect(broken.applied.toSorted()).toEqual(corruptionKinds.toSorted())
  }
})

test('each kind shows in the bytes', () => {
  const bytes = (kind: CorruptionKind) => corrupt(records, 1, [kind]).bytes
  const lines = (kind: CorruptionKind) => textOf(bytes(kind)).split('\n')
  expect([...bytes('bom').slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  expect(
    lines('crlf')
      .slice(0, -1)
      .filter((line) => !line.endsWith('\r')),
  ).toEqual([])
  expect(lines('blank-lines').filter((line) => line.trim() === '').length).toBeGreaterThan(2)
  expect(Math.max(...lines('long-line').map((line) => line.length))).toBeGreaterThan(600_000)
  expect(bytes('nul-run').includes(0)).toBe(true)
  expect(bytes('torn-last').at(-1)).not.toBe(0x0a)
  expect(lines('two-objects').length).toBe(records.length)
})
