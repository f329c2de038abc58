import { describe, expect, test } from 'vitest'
import { randomFrom } from '../random.ts'
import { sources } from './sources.ts'
import { synthetic } from './synthetic.ts'

describe('the samples', () => {
  test('of train and test never share a package, and every package is pinned', () => {
    const names = (split: string) => sources.filter((source) => source.split === split).map(({ name }) => name)
    expect(names('train').filter((name) => names('test').includes(name))).toEqual([])
    expect(sources.filter(({ name }) => !/^@?[^@]+@\d+\.\d+\.\d+$/.test(name))).toEqual([])
  })

  test('made by seed are the same in every run, and not the same in train and test', () => {
    expect(synthetic('train')).toEqual(synthetic('train'))
    const train = new Set(synthetic('train').map(({ text }) => text))
    expect(synthetic('test').filter(({ text }) => train.has(text))).toEqual([])
  })

  test('random numbers follow from the seed', () => {
    const [a, b] = [randomFrom(7), randomFrom(7)]
    expect(Array.from({ length: 20 }, a.next)).toEqual(Array.from({ length: 20 }, b.next))
    expect(Array.from({ length: 100 }, () => randomFrom(1).below(6)).every((value) => value >= 0 && value < 6)).toBe(
      true,
    )
  })
})
