import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sameStart } from '../../message/same-start.ts'
import { createPages } from './pages.ts'

const anyStep = fc.oneof(
  fc.record({ type: fc.constant('push' as const), count: fc.integer({ min: 1, max: 600 }) }),
  fc.record({ type: fc.constant('set' as const), at: fc.nat() }),
  fc.record({ type: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({ type: fc.constant('snapshot' as const) }),
)

test('a list of pages is the list, and every snapshot of it stays what it was', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const pages = createPages<number>()
      const list: number[] = []
      const taken: { readonly is: () => readonly number[]; readonly was: readonly number[] }[] = []
      let next = 0
      for (const step of steps) {
        if (step.type === 'push') {
          for (let nth = 0; nth < step.count; nth++) {
            list.push(next)
            pages.push(next++)
          }
        } else if (step.type === 'set' && list.length > 0) {
          list[step.at % list.length] = next
          pages.set(step.at % list.length, next++)
        } else if (step.type === 'cut') {
          const length = step.at % (list.length + 1)
          list.length = length
          pages.cutTo(length)
        } else if (step.type === 'snapshot') {
          const { toArray, length } = pages.snapshot()
          expect(length).toBe(list.length)
          taken.push({ is: toArray, was: list.slice() })
        }
        expect(pages.length()).toBe(list.length)
      }
      expect(list.map((_, at) => pages.at(at))).toEqual(list)
      expect(taken.map(({ is }) => is())).toEqual(taken.map(({ was }) => was))
    }),
  )
})

const anyLook = fc.record({ type: fc.constant('look' as const), at: fc.nat() })

test('how far lists that grew out of one another are the same is what comparing them item by item says', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(anyStep, anyLook), { maxLength: 40 }), (steps) => {
      const pages = createPages<object>()
      const snapshots: (() => readonly object[])[] = []
      const lists: (readonly object[])[] = []
      for (const step of steps) {
        const length = pages.length()
        if (step.type === 'push') for (let nth = 0; nth < step.count; nth++) pages.push({})
        else if (step.type === 'set' && length > 0) pages.set(step.at % length, {})
        else if (step.type === 'cut') pages.cutTo(step.at % (length + 1))
        else if (step.type === 'snapshot') snapshots.push(pages.snapshot().toArray)
        else if (step.type === 'look' && snapshots.length > 0) {
          const list = snapshots[step.at % snapshots.length]?.()
          if (list) lists.push(list)
        }
      }
      for (const one of lists) {
        for (const other of lists) expect(sameStart(one, other)).toBe(sameStart([...one], [...other]))
      }
    }),
  )
})
