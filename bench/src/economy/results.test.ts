// What the documentation says about the setting, held against the checked-in results.
import { expect, test } from 'vitest'
import { readFigures } from '../benchmark.ts'
import type { EconomyReport } from './run.ts'

const report = readFigures<EconomyReport>('economy')

test('a thrifty session does every task, keeps every rule and hands over as much', () => {
  const ours = report.ran.filter(({ who }) => who === 'Everlong')
  expect([ours.length > 0, ours.filter(({ outcome, setup }) => outcome.done < setup.tasks)]).toEqual([true, []])
  expect(report.kept.map(({ constraints: [kept, planted] }) => kept === planted)).toEqual([true, true])
  expect(new Set(report.probes.map(({ score }) => score)).size).toBe(1)
})
