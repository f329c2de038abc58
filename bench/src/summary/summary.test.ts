import { describe, expect, test } from 'vitest'
import { markdownOf } from '../benchmark.ts'
import { benchmarks } from '../benchmarks.ts'
import { against } from '../cost/page.ts'
import type { Ran } from '../cost/pool.ts'
import { engineTargets } from '../engine/run.ts'
import { alone, leftOut, together } from './everything.ts'
import { summaryPage } from './summary.ts'

const ran = (who: string, name: string, [price, done]: readonly [number, number]) =>
  ({
    setup: { kind: 'reading', tasks: 33, seed: 1 },
    who,
    name,
    outcome: { price, done },
  }) as Ran

test('every benchmark runs with all others, or is named as left out', () => {
  const run = [...alone, ...together].map(([name]) => name)
  expect([...run, ...leftOut].toSorted()).toEqual(Object.keys(benchmarks).toSorted())
})

describe('the summary', () => {
  test('counts what was met, and names what was missed', () => {
    const targets = [
      { what: 'speed', wanted: '2', measured: '3', met: true },
      { what: 'size', wanted: '1', measured: '4', met: false },
    ]
    const found = [{ benchmark: 'rounds', targets }]
    const page = markdownOf(summaryPage({ node: '26', found, took: { rounds: 90 } }))
    const whole = { took: { rounds: 90, cost: 60 }, seconds: 120, leftOut: ['soak'] }
    expect(markdownOf(summaryPage({ node: '26', found, ...whole }))).toContain(
      'Took rounds 90 s, cost 60 s; 2.0 minutes in all. Not run: soak.',
    )
    expect(page).toContain('**1 of 2 targets met.**')
    expect(page).toContain('| [rounds](rounds.md) | size | 1 | 4 | **no** |')
    expect(page).toContain('Took rounds 90 s; 1.5 minutes in all.')
  })

  test('takes the cheapest peer that got as much done, and no fixed rule of ours, for the rival', () => {
    const compared = [
      ran('Everlong', 'thrifty', [3, 33]),
      ran('LangChain', 'summaries', [5, 33]),
      ran('LangChain', 'forgets', [2, 8]),
      ran('fixed rule', 'idle', [4, 33]),
    ]
    expect(against(compared, 'thrifty')).toEqual([
      {
        kind: 'reading',
        name: 'thrifty',
        peer: 'LangChain: summaries',
        price: 3,
        peerPrice: 5,
        less: 0.4,
        done: '33 of 33',
        peerDone: '33 of 33',
      },
    ])
  })

  test('says how little the peer got done where nobody got as much done as we did', () => {
    const compared = [
      ran('Everlong', 'thrifty', [3, 33]),
      ran('LangChain', 'forgets', [2, 8]),
      ran('LangChain', 'forgets less', [6, 30]),
    ]
    expect(against(compared, 'thrifty')).toMatchObject([
      { less: 0.5, peer: 'LangChain: forgets less', peerDone: '30 of 33' },
    ])
  })

  test('holds the speeds of the engine to what was wanted', () => {
    const targets = [{ what: 'planning', wanted: 5, milliseconds: 6 }]
    expect(engineTargets({ targets })).toEqual([
      { what: 'planning', wanted: 'below 5 ms', measured: '6.00 ms', met: false },
    ])
  })
})
