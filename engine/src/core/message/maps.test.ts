import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dropOldest } from './maps.ts'

test('the newest stay, in their order, and never more than are wanted', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), fc.nat(20), (keys, most) => {
      const map = new Map(keys.map((key, at) => [key, at]))
      const set = new Set(keys)
      dropOldest(map, most)
      dropOldest(set, most)
      const kept = keys.slice(Math.max(0, keys.length - most))
      expect([[...map.keys()], [...set]]).toEqual([kept, kept])
    }),
  )
})
