// What the handover benchmark measures: a row for each contender and size of each case. Small helpers to look into them.
import type { Compacted } from 'everlong/internal/compaction'
import { type Grade, meanScore, weightedMean } from './grade.ts'

export type Row = {
  readonly contender: string
  readonly at: 'as it is' | 'default' | 'recorded' | number
  readonly tokens: number
  readonly characters: number
  readonly grades: readonly Grade[]
  readonly composition?: Compacted['composition']
  /** Tokens of the context without restored files, which have a budget of their own. */
  readonly handover?: number
}

export type CaseReport = { readonly name: string; readonly probes: number; readonly rows: readonly Row[] }

/** What is stored: a row's scores instead of a grade for each question. */
export type StoredCase = Omit<CaseReport, 'rows'> & {
  readonly rows: readonly (Omit<Row, 'grades'> & { readonly score: number; readonly weighted: number })[]
}

export function stored(cases: readonly CaseReport[]): readonly StoredCase[] {
  return cases.map((found) => ({
    ...found,
    rows: found.rows.map(({ grades, ...row }) => ({
      ...row,
      score: meanScore(grades),
      weighted: weightedMean(grades),
    })),
  }))
}

export type Select = { readonly contender: string; readonly at: Row['at'] }

export const withModel = 'ours, model summary'
export const alone: Select = { contender: 'model summary alone', at: 'as it is' }
export const recorded: Select = { contender: 'recorded', at: 'as it is' }

export function rowsOf(cases: readonly CaseReport[], { contender, at }: Select): readonly Row[] {
  return cases.flatMap(({ rows }) => rows.filter((row) => row.contender === contender && row.at === at))
}

export function rowIn({ rows }: CaseReport, { contender, at }: Select): Row | undefined {
  return rows.find((row) => row.contender === contender && row.at === at)
}

/** Of the cases' means, so that a case with many questions counts no more than another. */
export function mean(rows: readonly Row[], score: (grades: readonly Grade[]) => number = meanScore): number {
  return rows.reduce((sum, { grades }) => sum + score(grades), 0) / Math.max(1, rows.length)
}
