// What the documentation says about cost, held against the checked-in results.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../root.ts'
import type { Ran } from './pool.ts'
import { type CostReport, cheapestOf, costMarkdown, heldOf } from './report-markdown.ts'

const read = (name: string) => readFileSync(join(root, 'bench/results', name), 'utf8')
const report = JSON.parse(read('cost.json')) as CostReport
const failures = ({ outcome: { failed } }: Ran) => failed.overflow + failed.signature + failed.invalid

test('the page says what the data says', () => {
  expect(costMarkdown(report)).toBe(read('cost.md'))
})

test('no request of ours was refused, and every session went on to its end', () => {
  const ours = [...report.compared, ...report.bound, ...report.promise].filter(({ who }) => who === 'Everlong')
  const broken = ours.filter((row) => failures(row) > 0 || row.outcome.answers !== row.setup.answers)
  expect([ours.length > 0, broken]).toEqual([true, []])
})

test('with a cache that stays warm, weighing was never above a fixed rule', () => {
  const warm = heldOf(report.promise.filter(({ setup }) => setup.pauses === 'none'))
  expect(warm.map(({ kept, sessions }) => kept === sessions)).toEqual([true, true])
})

test('our cheapest setting is at least 25 % under the best peer', () => {
  const shares = cheapestOf(report.compared).map(({ ours, peer }) => ours.outcome.price / peer.outcome.price)
  expect(shares.filter((share) => share > 0.75)).toEqual([])
})
