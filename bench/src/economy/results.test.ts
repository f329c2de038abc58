// What the documentation says about the setting, held against the checked-in results.
import { expect, test } from 'vitest'
import { readFigures } from '../benchmark.ts'
import type { EconomyReport } from './run.ts'

const report = readFigures<EconomyReport>('economy')

test('every setting finishes its sessions, keeps every rule and hands over as much', () => {
  const ours = report.ran.filter(({ who }) => who === 'Everlong')
  const isCutShort = ({ outcome, setup }: (typeof ours)[number]) => outcome.done + outcome.spoilt < setup.tasks
  expect([ours.length > 0, ours.filter(isCutShort)]).toEqual([true, []])
  expect(report.kept.map(({ constraints: [kept, planted] }) => kept === planted)).toEqual([true, true, true])
  expect(new Set(report.probes.map(({ score }) => score)).size).toBe(1)
})

test('the default spoils no task, and forgets at most one fact more than claude-code', () => {
  const spoilt = report.ran.filter(({ name, outcome }) => name === 'the defaults' && outcome.spoilt > 0)
  expect(spoilt).toEqual([])
  const factsWith = (economy: string) => report.kept.find((one) => one.economy === economy)?.inContext ?? Number.NaN
  expect(factsWith('default')).toBeGreaterThanOrEqual(factsWith('claude-code') - 1)
})
