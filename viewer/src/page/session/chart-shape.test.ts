import { expect, test } from 'vitest'
import type { AgentLane, WindowData } from '../../data/api.ts'
import { above, drawnPoints, laneShapes, maxLaneRows, pointAt, rangeOf, scaleTop } from './chart-shape.ts'

const none = { system: [], summaries: [], user: [], assistant: [], thinking: [], results: [], files: [] }
const data: WindowData = {
  ...{ items: [1, 3, 5, 7, 9], times: [10, 20, null, 40, 50], totals: [1, 2, 3, 4, 100], cleared: [0, 0, 0, 0, 5] },
  ...{ bands: none, misses: [], gaps: [] },
}
const all = { from: 0, to: 4 }

const lane = (id: string, from: number | null, to: number | null, item: number | null = null): AgentLane => ({
  ...{
    id,
    kind: 'agent',
    place: 'folder',
    name: id,
    item,
    session: null,
    entries: 1,
    from,
    to,
    tokens: null,
    cost: null,
  },
})

const shapes = (lanes: readonly AgentLane[], range = all) =>
  laneShapes(lanes, data, range, 400).map(({ lane, row, x, width }) => [lane.id, row, x, width])

test('a lane goes from the answer after its start to the answer after its end', () => {
  expect(shapes([lane('a', 15, 35)])).toEqual([['a', 0, 100, 200]])
})

test('the call that started it decides where it begins', () => {
  expect(shapes([lane('a', 15, 45, 6)])).toEqual([['a', 0, 300, 100]])
})

test('lanes at the same time get rows of their own, and a later one takes a free row', () => {
  expect(shapes([lane('late', 45, 50), lane('a', 5, 15), lane('b', 5, 15)])).toEqual([
    ['a', 0, 0, 100],
    ['b', 1, 0, 100],
    ['late', 0, 400, 4],
  ])
})

test('lanes outside the zoom, without a time, or beyond the last row are not drawn', () => {
  expect(shapes([lane('a', 5, 8), lane('b', null, null)], { from: 2, to: 4 })).toEqual([])
  const many = Array.from({ length: maxLaneRows + 2 }, (_, at) => lane(String(at), 5, 50))
  expect(shapes(many)).toHaveLength(maxLaneRows)
})

test('a threshold that is near raises the scale, one that is far is named instead', () => {
  const thresholds = [
    { name: 'near', tokens: 160 },
    { name: 'far', tokens: 169 },
  ]
  expect(scaleTop(data, all, thresholds)).toBeCloseTo(160 * 1.08)
  expect(scaleTop(data, { from: 0, to: 3 }, thresholds)).toBeCloseTo(4 * 1.08)
  expect(above(thresholds, 168).map(({ name }) => name)).toEqual(['far'])
  expect(above(thresholds, 169)).toEqual([])
})

test('a range from the address is cut to what there is, and never empty', () => {
  expect(rangeOf(5, '1', '3')).toEqual({ from: 1, to: 3 })
  expect(rangeOf(5, '9', '2')).toEqual({ from: 2, to: 4 })
  expect(rangeOf(5, '2', '2')).toEqual(all)
  expect(rangeOf(5, 'NaN', '-1')).toEqual(all)
  expect(rangeOf(0, null, null)).toEqual({ from: 0, to: 0 })
})

test('of more points than pixels the largest of each group is drawn', () => {
  const totals = Array.from({ length: 1_000 }, (_, at) => (at === 777 ? 9 : 1))
  const drawn = drawnPoints(totals, { from: 0, to: 999 }, 100)
  expect(drawn).toHaveLength(100)
  expect(drawn).toContain(777)
  expect(drawnPoints(totals, { from: 10, to: 12 }, 100)).toEqual([10, 11, 12])
})

test('a place on the chart is the nearest point, also outside', () => {
  expect([-5, 149, 151, 999].map((x) => pointAt(x, all, 400))).toEqual([0, 1, 2, 4])
})
