import fc from 'fast-check'
import { expect, test } from 'vitest'
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
