// What the documentation says about cost, held against the checked-in results.
import { expect, test } from 'vitest'
import { readFigures } from '../benchmark.ts'
import { against, type CostReport, heldOf } from './page.ts'
import type { Ran } from './pool.ts'

const report = readFigures<CostReport>('cost')
const failures = ({ outcome: { failed } }: Ran) => failed.overflow + failed.signature + failed.invalid

test('no request of ours was refused, every session went on to its end, and nearly every task was done as asked', () => {
  const ours = [...report.compared, ...report.long, ...report.bound, ...report.promise].filter(
    ({ who }) => who === 'Everlong',
  )
  const isCutShort = ({ outcome, setup }: Ran) => outcome.done + outcome.spoilt < setup.tasks
  expect([ours.length > 0, ours.filter((row) => failures(row) > 0 || isCutShort(row))]).toEqual([true, []])
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
  const done = sum(ours.map(({ outcome }) => outcome.done)) / sum(ours.map(({ setup }) => setup.tasks))
  expect(done).toBeGreaterThan(0.97)
})

test('with a cache that stays warm, weighing was never above a fixed rule', () => {
  const warm = heldOf(report.promise.filter(({ setup }) => setup.pauses === 'none'))
  expect([warm.length > 0, warm.filter(({ kept, sessions }) => kept < sessions)]).toEqual([true, []])
})

test('thrifty is the cheapest of all that got as much done, for each length and kind of session', () => {
  const all = [...against(report.compared, 'thrifty'), ...against(report.long, 'thrifty')]
  expect([all.length > 0, all.filter(({ less }) => less <= 0)]).toEqual([true, []])
})
