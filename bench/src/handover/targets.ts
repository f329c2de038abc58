// The targets of the handover benchmark. Its page and the summary of all benchmarks show the same list.
import type { Target } from '../benchmark.ts'
import { alone, type CaseReport, handovers, mean, recorded, rowIn, rowsOf, type Select, withModel } from './rows.ts'

export function targetsOf(cases: readonly CaseReport[]): readonly Target[] {
  const scoreOf = (select: Select) => mean(rowsOf(cases, select))
  const ours: Select = { contender: withModel, at: 'default' }
  const recordedSummary: Select = { contender: 'ours, recorded summary', at: 'default' }
  const offline: Select = { contender: 'ours, offline', at: 'default' }
  const own = (found: CaseReport, select: Select) => rowIn(found, select)?.score ?? 0
  const below = (select: Select, others: readonly Select[]) =>
    cases.filter((found) => others.some((other) => own(found, select) < own(found, other))).length
  const lost = below(ours, [alone])
  const beaten = below(recordedSummary, [recorded, offline])
  const largest = Math.max(
    ...handovers
      .flatMap((contender) => rowsOf(cases, { contender, at: 'default' }))
      .map(({ handover = 0 }) => handover),
  )
  return [
    {
      what: 'model summary, default: cases below the summary alone',
      wanted: 'none',
      measured: `${lost} (mean ${scoreOf(ours).toFixed(3)}, alone ${scoreOf(alone).toFixed(3)})`,
      met: lost === 0,
    },
    {
      what: 'the handover, default, without restored files',
      wanted: 'at most 12,000 tokens',
      measured: `at most ${largest.toLocaleString('en')}`,
      met: largest <= 12_000,
    },
    atLeast('ordinary summary, default', scoreOf({ contender: 'ours, ordinary summary', at: 'default' }), 0.93),
    atLeast('recorded summary, default', scoreOf(recordedSummary), 0.84),
    {
      what: 'recorded summary, default: cases below the recorded context or the page without a model',
      wanted: 'none',
      measured: String(beaten),
      met: beaten === 0,
    },
    atLeast('offline, default', scoreOf(offline), 0.78),
    atLeast('model summary, at the recorded size', scoreOf({ contender: withModel, at: 'recorded' }), 0.84),
    atLeast('offline, at the recorded size', scoreOf({ contender: 'ours, offline', at: 'recorded' }), 0.65),
  ]
}

function atLeast(what: string, measured: number, wanted: number): Target {
  return { what, wanted: `at least ${wanted.toFixed(2)}`, measured: measured.toFixed(3), met: measured >= wanted }
}
