// Token counts of an answer. A server-side loop bills every iteration; the last iteration shows how full the window is.
import { arrayAt, defined, isObject, type JsonObject, numberAt } from './json.ts'

export type TokenCounts = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  /** Tokens written to the cache with either lifetime. */
  readonly cacheWrite: number
  /** The part of cacheWrite that was written for an hour. */
  readonly cacheWriteHour: number
}

export type Usage = TokenCounts & {
  /** Every sampling iteration, compactions included. Absent if the answer does not list them. */
  readonly iterations?: readonly (TokenCounts & { readonly type: string })[]
}

/** Whether a request found the cached prefix, or why not. */
export type CacheOutcome = 'hit' | MissReason

export type MissReason =
  | 'first-request' // of the conversation
  | 'expired'
  | 'prefix-changed' // by Everlong or by the host
  | 'not-cached' // the request before left nothing in the cache
  | 'unknown'

export const cacheOutcomes: readonly CacheOutcome[] = [
  'hit',
  'first-request',
  'expired',
  'prefix-changed',
  'not-cached',
  'unknown',
]

export const noTokens: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }

/** Undefined if the counts are impossible. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value) || reportedKeys.some((key) => isAbsurd(value[key]))) return undefined
  const listed = arrayAt(value, 'iterations').filter(isObject)
  const iterations = listed.map((one) => ({ ...readCounts(one), type: String(one.type ?? 'message') }))
  return iterations.length > 0 ? { ...readCounts(value), iterations } : readCounts(value)
}

const reportedKeys = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']

function isAbsurd(value: unknown): boolean {
  return typeof value === 'number' && !(value >= 0 && value < Number.POSITIVE_INFINITY)
}

function readCounts(value: JsonObject): TokenCounts {
  return {
    input: countAt(value, 'input_tokens'),
    output: countAt(value, 'output_tokens'),
    cacheRead: countAt(value, 'cache_read_input_tokens'),
    cacheWrite: countAt(value, 'cache_creation_input_tokens'),
    cacheWriteHour: countAt(value.cache_creation, 'ephemeral_1h_input_tokens'),
  }
}

function countAt(value: unknown, key: string): number {
  return Math.max(0, numberAt(value, key) ?? 0)
}

/** The opposite of `readUsage`. */
export function usageRecord(usage: Usage): JsonObject {
  const iterations = usage.iterations?.map((item) => ({ ...countsRecord(item), type: item.type }))
  return { ...countsRecord(usage), ...defined({ iterations }) }
}

function countsRecord(counts: TokenCounts): JsonObject {
  return {
    input_tokens: counts.input,
    cache_creation_input_tokens: counts.cacheWrite,
    cache_read_input_tokens: counts.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: counts.cacheWrite - counts.cacheWriteHour,
      ephemeral_1h_input_tokens: counts.cacheWriteHour,
    },
    output_tokens: counts.output,
  }
}

/** Counts everything in the window, including cached tokens. */
export function totalOf(counts: TokenCounts): number {
  return counts.input + counts.cacheRead + counts.cacheWrite + counts.output
}

/** The size of the context after this answer, from its last sampling iteration if iterations are listed. */
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

/** Adds up all iterations if they are listed, because the top level omits compactions. */
export function billedCounts(usage: Usage): TokenCounts {
  return usage.iterations ? usage.iterations.reduce(addCounts, noTokens) : usage
}
