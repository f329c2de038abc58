import fc from 'fast-check'
import { expect, test } from 'vitest'
import { callsOnceFirst, frequencyWeight, fuse, type Hit, rank, rarity, type TermHits } from './rank.ts'

const hit = (id: number, more: Partial<Hit> = {}): Hit => ({
  id,
  session: 0,
  file: 0,
  place: id * 10,
  weight: 1,
  ...more,
})
const term = (hits: readonly Hit[], more: Partial<TermHits> = {}): TermHits => {
  return { hits, texts: hits.length, isRequired: false, ...more }
}
const oneSession = (texts: number) => ({ texts, sessions: new Map([[0, texts]]) })
const order = (terms: readonly TermHits[], searched = oneSession(1000)) => rank(terms, searched).map(({ id }) => id)

test('of two texts with one word each, the one with the rarer word comes first', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 1, max: 999 }), (some, other) => {
      fc.pre(some !== other)
      const terms = [term([hit(1)], { texts: some }), term([hit(2)], { texts: other })]
      expect(order(terms)[0]).toBe(some < other ? 1 : 2)
    }),
  )
})

test('a text with all words comes before one that has some of them more often', () => {
  const often = { weight: frequencyWeight(100, 0.1) }
  const terms = [term([hit(1), hit(2, often)], { texts: 2 }), term([hit(1)], { texts: 900 })]
  expect(rank(terms, oneSession(1000)).map(({ id, hasAll }) => [id, hasAll])).toEqual([
    [1, true],
    [2, false],
  ])
})

test('what must be there leaves out what does not have it, unless nothing has it', () => {
  const bare = term([hit(1), hit(2)])
  expect(order([bare, term([hit(2)], { isRequired: true })])).toEqual([2])
  expect(order([bare, term([], { isRequired: true })])).toEqual([2, 1])
  expect(order([term([hit(1)], { isRequired: true }), term([hit(2)], { isRequired: true })])).toEqual([2, 1])
})

test('what the client added counts half of what somebody said, and more than half as many words', () => {
  const [said, listed] = [hit(1, { kind: 'assistant' }), hit(2, { kind: 'attachment' })]
  expect(order([term([said, listed])])).toEqual([1, 2])
  expect(order([term([hit(1), hit(2, { kind: 'meta' })])])).toEqual([1, 2])
  const rare = [term([listed]), term([listed]), term([listed, said])]
  expect(order(rare)).toEqual([2, 1])
})

test('of a call and its result the call has the better place of the two, and the result comes last', () => {
  const found = ['result a', 'said 1', 'call a', 'call b', 'result c', 'said 2', 'result b']
  const callOf = (text: string) => /^(?:call|result) (.)/.exec(text)?.[1] ?? null
  const isCall = (text: string) => text.startsWith('call')
  expect(callsOnceFirst(found, { callOf, isCall })).toEqual([
    ...['call a', 'said 1', 'call b', 'result c', 'said 2'],
    ...['result a', 'result b'],
  ])
})

test('of equal texts the newest comes first', () => {
  expect(order([term([hit(3), hit(7), hit(5)])])).toEqual([7, 5, 3])
})

test('a match beside it or two texts away raises a text, by distance, in its own file only', () => {
  const lone = hit(9, { place: 500 })
  const at = (place: number, file = 0) => hit(1, { place, file })
  const beside = (place: number) =>
    rank([term([lone, at(place)])], oneSession(1000)).find(({ id }) => id === 9)?.score ?? 0
  const alone = beside(100)
  expect([499, 501].map(beside)).toEqual([beside(499), beside(499)])
  expect(beside(499)).toBeGreaterThan(beside(498))
  expect(beside(498)).toBeGreaterThan(alone)
  expect(beside(497)).toBe(alone)
  const [elsewhere] = rank([term([lone, at(499, 1)])], oneSession(1000))
  expect(elsewhere).toEqual({ id: 9, score: alone, hasAll: true })
})

test('of equal texts the one comes first whose session speaks of the other words', () => {
  const searched = {
    texts: 100,
    sessions: new Map([
      [0, 50],
      [1, 50],
    ]),
  }
  const terms = [
    term([hit(1, { session: 0, file: 0 }), hit(2, { session: 1, file: 1 })]),
    term([hit(30, { session: 0, file: 0 })], { texts: 60 }),
  ]
  const ranked = order(terms, searched)
  expect(ranked.indexOf(1)).toBeLessThan(ranked.indexOf(2))
})

test('every text with a term is listed once, and the order does not depend on that of the hits', () => {
  const hits = fc.uniqueArray(fc.record({ id: fc.nat(50), weight: fc.double({ min: 0.1, max: 2.2, noNaN: true }) }), {
    selector: ({ id }) => id,
  })
  fc.assert(
    fc.property(fc.array(hits, { minLength: 1, maxLength: 4 }), (lists) => {
      const terms = lists.map((list) =>
        term(list.map(({ id, weight }) => hit(id, { weight, place: id, session: id % 3, file: id % 3 }))),
      )
      const searched = { texts: 51, sessions: new Map([0, 1, 2].map((session) => [session, 17])) }
      const found = order(terms, searched)
      expect(found.toSorted((a, b) => a - b)).toEqual(
        [...new Set(lists.flat().map(({ id }) => id))].toSorted((a, b) => a - b),
      )
      expect(
        order(
          terms.map((one) => ({ ...one, hits: one.hits.toReversed() })),
          searched,
        ),
      ).toEqual(found)
    }),
  )
})

test('a rarer word says more, and no word says less than nothing', () => {
  fc.assert(
    fc.property(fc.nat(5000), fc.nat(1000), (having, all) => {
      expect(rarity(having, all)).toBeGreaterThan(0)
      expect(rarity(having + 1, all)).toBeLessThanOrEqual(rarity(having, all))
    }),
  )
})

test('of merged lists, what is high in both comes first, then what is high in one', () => {
  expect(
    fuse([
      [1, 2, 3],
      [2, 4],
    ]),
  ).toEqual([2, 1, 4, 3])
  expect(fuse([[], [5, 6]])).toEqual([5, 6])
  expect(fuse([])).toEqual([])
})
