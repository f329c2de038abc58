// What the documentation says about cost, held against the checked-in results.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../root.ts'
import type { Ran } from './pool.ts'
import { against, type CostReport, costMarkdown, heldOf } from './report-markdown.ts'

const read = (name: string) => readFileSync(join(root, 'bench/results', name), 'utf8')
const report = JSON.parse(read('cost.json')) as CostReport
const failures = ({ outcome: { failed } }: Ran) => failed.overflow + failed.signature + failed.invalid

test('the page says what the data says', () => {
  expect(costMarkdown(report)).toBe(read('cost.md'))
})

test('no request of ours was refused, and every task was done', () => {
  const ours = [...report.compared, ...report.long, ...report.bound, ...report.promise].filter(
    ({ who }) => who === 'Everlong',
  )
  const broken = ours.filter((row) => failures(row) > 0 || row.outcome.done !== row.setup.tasks)
  expect([ours.length > 0, broken]).toEqual([true, []])
})

test('with a cache that stays warm, weighing was never above a fixed rule', () => {
  const warm = heldOf(report.promise.filter(({ setup }) => setup.pauses === 'none'))
  expect([warm.length > 0, warm.filter(({ kept, sessions }) => kept < sessions)]).toEqual([true, []])
})

test('thrifty is at least 25 % under the best peer on average, at equal success, for each length and kind of session', () => {
  const all = [...against(report.compared, 'thrifty'), ...against(report.long, 'thrifty')]
  expect([all.length > 0, all.filter(({ less }) => less < 0.25)]).toEqual([true, []])
})

test('over 33 tasks the defaults without notes cost less than the best peers, all kinds together', () => {
  const all = against(report.compared, 'the defaults without notes')
  const sum = (prices: readonly number[]) => prices.reduce((total, price) => total + price, 0)
  expect(sum(all.map(({ price }) => price))).toBeLessThan(sum(all.map(({ peerPrice }) => peerPrice)))
})
