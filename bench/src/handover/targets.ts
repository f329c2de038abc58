// What the handover benchmark is held to. The page of results and the summary of all benchmarks show the same list.
import type { Target } from '../summary/target.ts'
import { meanScore } from './grade.ts'
import { alone, type CaseReport, mean, type Row, recorded, rowIn, rowsOf, type Select, withModel } from './rows.ts'

export function targetsOf(cases: readonly CaseReport[]): readonly Target[] {
  const scoreOf = (select: Select) => mean(rowsOf(cases, select))
  const ours: Select = { contender: withModel, at: 'default' }
  const recordedSummary: Select = { contender: 'ours, recorded summary', at: 'recorded' }
  const own = (found: CaseReport, select: Select) => meanScore(rowIn(found, select)?.grades ?? [])
  const below = (select: Select, other: Select) =>
    cases.filter((found) => own(found, select) < own(found, other)).length
  const extra = Math.max(
    ...rowsOf(cases, ours).map(({ composition }) => pageTokens(composition) - (composition?.model ?? 0)),
  )
  return [
    {
      what: 'model summary, default: cases below the summary alone',
      wanted: 'none',
      measured: `${below(ours, alone)} (mean ${scoreOf(ours).toFixed(3)}, alone ${scoreOf(alone).toFixed(3)})`,
      met: below(ours, alone) === 0,
    },
    {
      what: 'the page beyond the summary, without restored context',
      wanted: 'at most 2,000 tokens',
      measured: `at most ${extra.toLocaleString('en')}`,
      met: extra <= 2_000,
    },
    atLeast('model summary, at the recorded size', scoreOf({ contender: withModel, at: 'recorded' }), 0.68),
    {
      what: 'recorded summary, at the recorded size: cases below the recorded context',
      wanted: 'none',
      measured: String(below(recordedSummary, recorded)),
      met: below(recordedSummary, recorded) === 0,
    },
    atLeast('recorded summary, at the recorded size', scoreOf(recordedSummary), 0.7),
    atLeast('offline, at the recorded size', scoreOf({ contender: 'ours, offline', at: 'recorded' }), 0.6),
    atLeast('offline, 12,000 tokens', scoreOf({ contender: 'ours, offline', at: 12_000 }), 0.7),
  ]
}

function atLeast(what: string, measured: number, wanted: number): Target {
  return { what, wanted: `at least ${wanted.toFixed(2)}`, measured: measured.toFixed(3), met: measured >= wanted }
}

function pageTokens(composition: Row['composition']): number {
  if (!composition) return 0
  const { restored: _, ...page } = composition
  return Object.values(page).reduce((sum, tokens) => sum + tokens, 0)
}
