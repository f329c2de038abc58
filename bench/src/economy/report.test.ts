// What the documentation says about the setting, held against the checked-in results.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../root.ts'
import { type EconomyReport, economyMarkdown } from './report.ts'

const read = (name: string) => readFileSync(join(root, 'bench/results', name), 'utf8')
const report = JSON.parse(read('economy.json')) as EconomyReport

test('the page says what the data says', () => {
  expect(economyMarkdown(report)).toBe(read('economy.md'))
})

test('a thrifty session does every task, keeps every rule and hands over as much', () => {
  const ours = report.ran.filter(({ who }) => who === 'Everlong')
  expect([ours.length > 0, ours.filter(({ outcome, setup }) => outcome.done < setup.tasks)]).toEqual([true, []])
  expect(report.kept.map(({ constraints: [kept, planted] }) => kept === planted)).toEqual([true, true])
  expect(new Set(report.probes.map(({ score }) => score)).size).toBe(1)
})
