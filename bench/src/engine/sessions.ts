// The made-up sessions that the engine is measured on, and how a stretch of work is timed.
import { performance } from 'node:perf_hooks'
import { generateSession } from 'everlong/testing'
import type { Entry } from 'everlong/transcript'

/** So many entries of a session, as they would come from a file. */
export function entriesOf(count: number, { boundaries = 0 }: { readonly boundaries?: number } = {}): readonly Entry[] {
  const found: Entry[] = []
  const options = { seed: 7, turns: Math.ceil(count / 10), parallel: 0.3, boundaries, kept: 'before' as const }
  for (const record of generateSession(options)) {
    if (found.length === count) break
    found.push({ record, position: { line: found.length + 1, offset: found.length, length: 1, nth: 0 } })
  }
  return found
}

/** Milliseconds. */
export function timed(work: () => unknown): number {
  return timedResult(work).milliseconds
}

export function timedResult<T>(work: () => T): { readonly result: T; readonly milliseconds: number } {
  const began = performance.now()
  const result = work()
  return { result, milliseconds: performance.now() - began }
}
