// Token counts as an API answer reports them. The size of the context and the tokens billed are two numbers:
// a server-side loop bills every iteration, but only the last one says how full the window is.
import { isObject, type JsonObject } from './json.ts'

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

/**
 * Reads an API usage object; undefined when it is none, or says what cannot be: less than nothing, no number. The very same as one that is known where it says the same: every
 * line of an answer repeats it.
 */
export function readUsage(value: unknown, known?: Usage): Usage | undefined {
  if (!isObject(value) || !isPossible(value)) return undefined
  if (known && saysTheSame(value, known)) return known
  const iterations = readIterations(value.iterations)
  const { input, output, cacheRead, cacheWrite, cacheWriteHour } = readCounts(value)
  return iterations
    ? { input, output, cacheRead, cacheWrite, cacheWriteHour, iterations }
    : { input, output, cacheRead, cacheWrite, cacheWriteHour }
}

function isPossible({ input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens }: JsonObject) {
  return (
    !isAbsurd(input_tokens) &&
    !isAbsurd(output_tokens) &&
    !isAbsurd(cache_read_input_tokens) &&
    !isAbsurd(cache_creation_input_tokens)
  )
}

function isAbsurd(value: unknown): boolean {
  return typeof value === 'number' && !(value >= 0 && value < Number.POSITIVE_INFINITY)
}

/** Written out, and a list of just its length: every line of every answer has these. */
function readIterations(listed: unknown): Usage['iterations'] {
  if (!Array.isArray(listed)) return undefined
  const objects: readonly JsonObject[] = listed.every(isObject) ? listed : listed.filter(isObject)
  if (objects.length === 0) return undefined
  return objects.map((iteration) => {
    const { input, output, cacheRead, cacheWrite, cacheWriteHour } = readCounts(iteration)
    return { input, output, cacheRead, cacheWrite, cacheWriteHour, type: String(iteration.type ?? 'message') }
  })
}

function saysTheSame(value: JsonObject, known: Usage): boolean {
  if (!hasCounts(value, known)) return false
  const listed = Array.isArray(value.iterations) ? value.iterations : none
  const iterations = known.iterations ?? none
  if (listed.length !== iterations.length) return false
  for (let at = 0; at < listed.length; at++) {
    const iteration: unknown = listed[at]
    const other = iterations[at]
    if (!other || !isObject(iteration) || !hasCounts(iteration, other)) return false
    if (String(iteration.type ?? 'message') !== other.type) return false
  }
  return true
}

const none: readonly never[] = []

function hasCounts(value: JsonObject, { input, output, cacheRead, cacheWrite, cacheWriteHour }: TokenCounts): boolean {
  return (
    countIn(value.output_tokens) === output &&
    countIn(value.input_tokens) === input &&
    countIn(value.cache_read_input_tokens) === cacheRead &&
    countIn(value.cache_creation_input_tokens) === cacheWrite &&
    countIn(hourIn(value)) === cacheWriteHour
  )
}

function hourIn({ cache_creation: written }: JsonObject): unknown {
  return isObject(written) ? written.ephemeral_1h_input_tokens : undefined
}

function readCounts(value: JsonObject): TokenCounts {
  return {
    input: countIn(value.input_tokens),
    output: countIn(value.output_tokens),
    cacheRead: countIn(value.cache_read_input_tokens),
    cacheWrite: countIn(value.cache_creation_input_tokens),
    cacheWriteHour: countIn(hourIn(value)),
  }
}

function countIn(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
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
