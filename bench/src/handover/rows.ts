// What the handover benchmark measures: a row for each contender and size of each case. Small helpers to look into them.
import type { Compaction } from 'everlong/internal/compaction'
import type { Target } from '../benchmark.ts'
import type { OneSearch } from './one-search.ts'

export type Row = {
  readonly contender: string
  readonly at: 'as it is' | 'default' | 'recorded' | number
  readonly tokens: number
  readonly characters: number
  readonly composition?: Compaction['composition']
  /** Tokens of the context without restored files, which have a budget of their own. */
  readonly handover?: number
  /** Ours, at default settings: what one search finds of what the context does not answer. */
  readonly search?: OneSearch
  /** Mean over the questions, from 0 to 1; `weighted` counts some of them double. */
  readonly score: number
  readonly weighted: number
}

export type CaseReport = { readonly name: string; readonly probes: number; readonly rows: readonly Row[] }

export type HandoverFigures = {
  readonly cases: readonly CaseReport[]
  readonly targets: readonly Target[]
  /** The mean score at default settings by kind of question, for each contender. */
  readonly kinds: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** Questions that the summary alone answers better than our context. */
  readonly lost: readonly {
    readonly case: string
    readonly question: number
    readonly scores: readonly [number, number]
  }[]
}

export type Select = { readonly contender: string; readonly at: Row['at'] }

export const withModel = 'ours, model summary'
/** Our contenders whose handover is measured. */
export const handovers = [withModel, 'ours, ordinary summary', 'ours, recorded summary', 'ours, offline']
export const alone: Select = { contender: 'model summary alone', at: 'as it is' }
export const recorded: Select = { contender: 'recorded', at: 'as it is' }

export function rowsOf(cases: readonly CaseReport[], { contender, at }: Select): readonly Row[] {
  return cases.flatMap(({ rows }) => rows.filter((row) => row.contender === contender && row.at === at))
}

export function rowIn({ rows }: CaseReport, { contender, at }: Select): Row | undefined {
  return rows.find((row) => row.contender === contender && row.at === at)
}

/** Of the cases' means, so that a case with many questions counts no more than another. */
export function mean(rows: readonly Row[], key: 'score' | 'weighted' = 'score'): number {
  return rows.reduce((sum, row) => sum + row[key], 0) / Math.max(1, rows.length)
}
