// The generated sessions that the engine is measured on, and how work is timed.
import { countTokens, type Entry } from 'everlong'
import { messagesOf } from 'everlong/internal'
import { generateSession } from 'everlong/internal/testing'
import { processorTime, type Sample, stopwatch } from '../timing.ts'

/** The first `count` entries of a session, as if read from a file. */
export function entriesOf(count: number, { boundaries = 0 }: { readonly boundaries?: number } = {}): readonly Entry[] {
  const found: Entry[] = []
  const options = { seed: 7, turns: Math.ceil(count / 10), parallel: 0.3, boundaries, kept: 'before' as const }
  for (const record of generateSession(options)) {
    if (found.length === count) break
    found.push({ record, position: { line: found.length + 1, offset: found.length, length: 1, nth: 0 } })
  }
  return found
}

const tokensOfEntry = 100

/** The beginning of a session with this many tokens. */
export function upTo(tokens: number): readonly Entry[] {
  const entries = entriesOf(Math.ceil(tokens / tokensOfEntry) + 1000)
  let sum = 0
  const end = entries.findIndex((entry) => {
    sum += countTokens(messagesOf([entry]))
    return sum >= tokens
  })
  return entries.slice(0, end + 1)
}

/** Milliseconds of processor time, which hardly depends on other work on the machine. */
export function timed(work: () => unknown): number {
  const began = processorTime()
  work()
  return processorTime() - began
}

export function sampled<T>(work: () => T): { readonly result: T; readonly sample: Sample } {
  const elapsed = stopwatch()
  const result = work()
  return { result, sample: elapsed() }
}
