// Least squares with a prior and a least weight, by coordinate descent over sparse columns. Deterministic.

/** One observation: which weights it uses how often, and what they must add up to. */
export type Observation = {
  readonly counts: ReadonlyMap<number, number>
  readonly truth: number
  readonly weight: number
  /** What an error is measured in; the truth when absent. */
  readonly unit?: number
}

type Column = { readonly at: Int32Array; readonly value: Float64Array; readonly square: number }

export type Problem = {
  readonly observations: readonly Observation[]
  /** The weights to start from and to stay near where the data says little. */
  readonly prior: Float64Array
  /** How strongly to stay near them. */
  readonly pull: number
  readonly rounds?: number
  /** Where to begin, when not at the prior. */
  readonly start?: Float64Array
  /** The nearest weight that can be stored: later weights then make up for what rounding did to earlier ones. */
  readonly snap?: (weight: number) => number
  /** No weight goes below it: 0 when absent. */
  readonly least?: number
  /** Weights that stay where they begin. */
  readonly held?: (index: number) => boolean
}

/** The weights, none below the least, that make the errors small. */
export function solve(problem: Problem): Float64Array {
  const {
    observations,
    prior,
    pull,
    rounds = 200,
    start = prior,
    snap = (weight) => weight,
    least = 0,
    held = () => false,
  } = problem
  const weights = Float64Array.from(start)
  const columns = columnsOf(observations, prior.length)
  const residual = Float64Array.from(observations, (seen) => (Math.sqrt(seen.weight) * seen.truth) / unitOf(seen))
  for (const [index, column] of columns.entries()) shift(residual, column, weights[index] ?? 0)
  for (let round = 0; round < rounds; round++) {
    let moved = 0
    for (const [index, column] of columns.entries()) {
      if (column.at.length === 0 || held(index)) continue
      const old = weights[index] ?? 0
      let gradient = pull * ((prior[index] ?? 0) - old)
      for (let k = 0; k < column.at.length; k++) gradient += (column.value[k] ?? 0) * (residual[column.at[k] ?? 0] ?? 0)
      const fresh = snap(Math.max(least, old + gradient / (column.square + pull)))
      if (fresh === old) continue
      weights[index] = fresh
      shift(residual, column, fresh - old)
      moved = Math.max(moved, Math.abs(fresh - old))
    }
    if (moved < 1e-4) break
  }
  return weights
}

function unitOf({ unit, truth }: Observation): number {
  return unit ?? truth
}

function columnsOf(observations: readonly Observation[], size: number): readonly Column[] {
  const entries: [number, number][][] = Array.from({ length: size }, () => [])
  for (const [row, seen] of observations.entries()) {
    const factor = Math.sqrt(seen.weight) / unitOf(seen)
    for (const [index, count] of seen.counts) entries[index]?.push([row, count * factor])
  }
  return entries.map((column) => ({
    at: Int32Array.from(column, ([row]) => row),
    value: Float64Array.from(column, ([, value]) => value),
    square: column.reduce((sum, [, value]) => sum + value * value, 0),
  }))
}

function shift(residual: Float64Array, column: Column, by: number): void {
  if (by === 0) return
  for (let k = 0; k < column.at.length; k++) {
    const row = column.at[k] ?? 0
    residual[row] = (residual[row] ?? 0) - by * (column.value[k] ?? 0)
  }
}
