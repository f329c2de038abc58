// How well the next request's size is foretold on real sessions: what the last answer reported, plus the estimate of
// the text that was added since, in the tokens of that model's family and with what was learned so far.
import { countTokens } from 'everlong'
import { recalibrate, uncalibrated } from 'everlong/internal/compaction'
import type { Answer } from './sessions.ts'

export type ErrorFigures = {
  readonly count: number
  readonly mean: number
  readonly p95: number
  readonly worst: number
}

/** Errors as shares of the true total, turn by turn. */
export function predictionErrors(answers: readonly Answer[]): readonly number[] {
  const errors: number[] = []
  let calibration = uncalibrated
  for (const [index, next] of answers.entries()) {
    const last = answers[index - 1]
    if (!last || next.isCut || next.input < last.input) continue
    const { model } = next
    // Old clients stored the first chunk's output count: a stub says less than the answer's own text.
    const isStub = last.output <= 10 && countTokens(last.own) > last.output
    const known = last.input + (isStub ? 0 : last.output)
    const added = countTokens([...(isStub ? last.own : []), ...next.before], { model })
    errors.push((known + added * calibration.factor - next.input) / next.input)
    calibration = recalibrate(calibration, { estimated: added, reported: next.input - known })
  }
  return errors
}

export function figuresOf(errors: readonly number[]): ErrorFigures {
  const sizes = errors.map(Math.abs).toSorted((a, b) => a - b)
  return {
    count: sizes.length,
    mean: sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length),
    p95: sizes[Math.floor(sizes.length * 0.95)] ?? 0,
    worst: sizes.at(-1) ?? 0,
  }
}
