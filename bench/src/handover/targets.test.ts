import { describe, expect, test } from 'vitest'
import { markdownOf } from '../benchmark.ts'
import { readingParts } from './readings.ts'
import type { CaseReport, Row } from './rows.ts'
import { targetsOf } from './targets.ts'

const row = (contender: string, at: Row['at'], score: 0 | 0.5 | 1): Row => ({
  contender,
  at,
  tokens: 22_000,
  handover: 13_000,
  characters: 400,
  score,
  weighted: score,
  composition: { model: 4_000, user: 500, state: 300, rules: 200, facts: 1_100, restored: 9_000 },
})

const found = (score: 0 | 0.5 | 1): CaseReport => ({
  name: 'one',
  probes: 1,
  rows: [
    row('recorded', 'as it is', 0.5),
    row('model summary alone', 'as it is', 1),
    row('ours, model summary', 'default', score),
    row('ours, model summary', 'recorded', score),
    row('ours, ordinary summary', 'default', score),
    row('ours, recorded summary', 'default', score),
    row('ours, offline', 'default', 0.5),
    row('ours, offline', 'recorded', score),
  ],
})

describe('the targets of the handover benchmark', () => {
  test('are all missed when our contexts answer nothing, and the handover is counted without restored files', () => {
    expect(targetsOf([found(0)]).map(({ measured, met }) => [measured, met])).toEqual([
      ['1 (mean 0.000, alone 1.000)', false],
      ['at most 13,000', false],
      ['0.000', false],
      ['0.000', false],
      ['1', false],
      ['0.500', false],
      ['0.000', false],
      ['0.000', false],
    ])
  })

  test('are met, but for the size and the page without a model, when our contexts answer everything', () => {
    expect(targetsOf([found(1)]).map(({ met }) => met)).toEqual([true, false, true, true, true, false, true, true])
  })
})

describe('the table of readings', () => {
  test('has a row for each case and one for all, with how often readers were misled', () => {
    const readings = [
      { case: 'one', context: 'model summary, default', score: 0.9, misled: 0 },
      { case: 'one', context: 'offline, default', score: 0.7, misled: 1 },
      { case: 'two', context: 'model summary, default', score: 1, misled: 2 },
    ]
    const page = markdownOf({ title: 'Readings', parts: readingParts(readings) })
    expect(page.trim().split('\n').slice(4)).toEqual([
      '|  | model summary, default | offline, default |',
      '| --- | ---: | ---: |',
      '| one | 0.90 (0) | 0.70 (1) |',
      '| two | 1.00 (2) |  |',
      '| all | 0.95 (2) | 0.70 (1) |',
    ])
  })

  test('says so when there are none', () => {
    expect(readingParts([])).toEqual(['No reading has been recorded.'])
  })
})
