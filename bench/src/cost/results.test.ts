// What the documentation says about cost, held against the checked-in results.
import { expect, test } from 'vitest'
import { readFigures } from '../benchmark.ts'
import { type CostReport, heldOf } from './page.ts'
import type { Ran } from './pool.ts'

const report = readFigures<CostReport>('cost')
const failures = ({ outcome: { failed } }: Ran) => failed.overflow + failed.signature + failed.invalid

test('no request of ours was refused, every session continued to its end, and nearly every task was done as asked', () => {
  const ours = [...report.compared, ...report.bound, ...report.promise].filter(({ who }) => who === 'Everlong')
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

test('nobody who got as much done as the defaults paid less, in any kind of session', () => {
  const own = report.compared.filter(({ who, name }) => who === 'Everlong' && name === 'the defaults')
  const cheaper = own.flatMap((ours) =>
    report.compared.filter(
      ({ who, setup, outcome }) =>
        who !== 'Everlong' &&
        setup.kind === ours.setup.kind &&
        outcome.done >= ours.outcome.done &&
        outcome.price < ours.outcome.price,
    ),
  )
  expect([own.length, cheaper.map(({ name, setup }) => `${name}, ${setup.kind}`)]).toEqual([3, []])
})
