// Token counts as an API answer reports them. The size of the context and the tokens billed are two numbers:
// a server-side loop bills every iteration, but only the last one says how full the window is.
import { arrayAt, isObject, numberAt, objectAt } from './json.ts'

export type TokenCounts = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  /** Tokens written to the cache, both lifetimes together. */
  readonly cacheWrite: number
  /** The part of cacheWrite that was written for an hour. */
  readonly cacheWriteHour: number
}

export type Usage = TokenCounts & {
  /** Present where the answer lists them: each sampling iteration, compactions included. */
  readonly iterations?: readonly (TokenCounts & { readonly type: string })[]
}

export const noTokens: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }

/** Reads an API usage object; undefined when it is none. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined
  const counts = readCounts(value)
  const listed = arrayAt(value, 'iterations')
  if (listed.length === 0) return counts
  const iterations = listed
    .filter(isObject)
    .map((iteration) => ({ ...readCounts(iteration), type: String(iteration.type ?? 'message') }))
  return iterations.length > 0 ? { ...counts, iterations } : counts
}

function readCounts(value: unknown): TokenCounts {
  return {
    input: numberAt(value, 'input_tokens') ?? 0,
    output: numberAt(value, 'output_tokens') ?? 0,
    cacheRead: numberAt(value, 'cache_read_input_tokens') ?? 0,
    cacheWrite: numberAt(value, 'cache_creation_input_tokens') ?? 0,
    cacheWriteHour: numberAt(objectAt(value, 'cache_creation'), 'ephemeral_1h_input_tokens') ?? 0,
  }
}

/** Everything that occupies the window: cached tokens do too. */
export function totalOf(counts: TokenCounts): number {
  return counts.input + counts.cacheRead + counts.cacheWrite + counts.output
}

/** How full the window was after this answer: the last sampling iteration where the answer lists them. */
export function contextTokens(usage: Usage): number {
  const last = usage.iterations?.findLast((iteration) => iteration.type !== 'compaction' && totalOf(iteration) > 0)
  return totalOf(last ?? usage)
}

export function addCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    cacheWriteHour: a.cacheWriteHour + b.cacheWriteHour,
  }
}

/** What is paid for: every iteration where the answer lists them, since its top level leaves compactions out. */
export function billedCounts(usage: Usage): TokenCounts {
  return usage.iterations ? usage.iterations.reduce(addCounts, noTokens) : usage
}
