import { expect, test } from 'vitest'
import { random } from './random.ts'

test('the same seed gives the same numbers, another seed others', () => {
  const draw = (seed: number) =>
    Array.from({ length: 20 }, (_, index) => [random(seed).next(), random(seed + index).hex(7)])
  expect(draw(5)).toEqual(draw(5))
  expect(draw(5)).not.toEqual(draw(6))
})

test('uuids have the form of version 4 and do not repeat', () => {
  const source = random(1)
  const uuids = Array.from({ length: 10_000 }, () => source.uuid())
  expect(new Set(uuids).size).toBe(uuids.length)
  expect(
    uuids.filter((uuid) => !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuid)),
  ).toEqual([])
})

test('whole numbers reach both ends and stay between them', () => {
  const source = random(2)
  const drawn = new Set(Array.from({ length: 500 }, () => source.int(3, 7)))
  expect([...drawn].toSorted()).toEqual([3, 4, 5, 6, 7])
})

test('chance and pick follow their shares', () => {
  const source = random(3)
  const hits = Array.from({ length: 10_000 }, () => source.chance(0.3)).filter(Boolean).length
  expect(hits).toBeGreaterThan(2_800)
  expect(hits).toBeLessThan(3_200)
  expect(new Set(Array.from({ length: 100 }, () => source.pick(['a', 'b', 'c'])))).toEqual(new Set(['a', 'b', 'c']))
})

test('hex gives exactly the digits asked for', () => {
  expect([0, 1, 8, 13, 40].map((digits) => random(4).hex(digits).length)).toEqual([0, 1, 8, 13, 40])
})
