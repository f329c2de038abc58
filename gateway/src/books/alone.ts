// The cost of a request without the gateway. Without it, a client sends its whole history each time until its window is nearly
// full; then it asks for a summary and continues from there. Both are simulated next to the requests that were really sent.
import type { TokenCounts } from 'everlong'
import { costOf, modelFacts } from 'everlong/internal'
import type { CacheOutcome } from 'everlong/internal/wire'

/** State of a conversation after a request. */
export type AloneState = {
  /** Tokens of the client's request, by our estimate. */
  readonly asked: number
  /** Tokens of the request that the client would have sent without the gateway, by the API's count. */
  readonly size: number
  /** Tokens of the newest summary of this conversation, if a model has written one. */
  readonly summary?: number | undefined
}

export type AloneRequest = {
  /** Undefined for the first request of a conversation. */
  readonly before: AloneState | undefined
  /** The billed usage. */
  readonly usage: TokenCounts
  /** Tokens of the client's request and of the sent one, by our estimate. */
  readonly asked: number
  readonly sent: number
  readonly cache: CacheOutcome | undefined
  readonly model: string
  /** It begins with a person's message instead of tool results. */
  readonly isNewTurn: boolean
  /** Tokens of system prompt and tools, by our estimate. Called if the client would have compacted. */
  readonly overhead: () => number
  /** Tokens of a summary that the gateway requested for this request. */
  readonly summary: number | undefined
}

export type Alone = {
  readonly tokens: number
  /** US dollars. Undefined if the model's price is unknown. */
  readonly cost: number | undefined
  readonly state: AloneState
}

/** Clients use no more of a larger window unless a person asks for it, so the books do not count on it. */
const maxClientWindow = 200_000
/** Share of the window at which Claude Code compacts by itself. Other clients use between 80 and 95 %. */
const clientThreshold = 0.835
/** Tokens of a summary, until a model has written one of this conversation. */
const typicalSummary = 6_000
const noTokens: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }

export function aloneOf(request: AloneRequest): Alone {
  const { before, usage, model, asked } = request
  const scale = scaleOf(request)
  const summary = request.summary ?? before?.summary
  const window = Math.min(modelFacts(model)?.window ?? maxClientWindow, maxClientWindow)
  const grown = grownIn(request)
  // If a history got shorter, the client itself cut it.
  const isContinued = before !== undefined && grown >= 0
  const size = Math.min(isContinued ? before.size + grown : Math.round(scale * asked), window)
  const state = { asked, ...(summary === undefined ? {} : { summary }) }
  const isFull = isContinued && (request.isNewTurn ? before.size > window * clientThreshold : size >= window)
  if (!isFull) {
    const isMissed = !isContinued || misses.has(request.cache ?? 'unknown')
    const cost = costOf(promptOf(size, isMissed ? size : Math.min(grown, size), usage), model)
    return { tokens: size, cost, state: { ...state, size } }
  }
  return compacted(request, { size: before.size, grown, state })
}

/** Growth since the previous request. Negative if the client itself has cut its history. */
function grownIn(request: AloneRequest): number {
  const { before, asked, usage, cache } = request
  const estimated = Math.round(scaleOf(request) * (asked - (before?.asked ?? 0)))
  // Everything not read from the cache is new, unless the gateway changed something before it.
  const reported = usage.input + usage.cacheWrite
  const isLike = Math.abs(reported - estimated) <= 0.25 * estimated
  return cache === 'hit' && isLike ? reported : estimated
}

/** Counted tokens per estimated token. */
function scaleOf({ usage, sent }: AloneRequest): number {
  return (usage.input + usage.cacheRead + usage.cacheWrite) / Math.max(1, sent)
}

/** The whole prompt would have been sent again anyway, so the gateway did not cause these. */
const misses: ReadonlySet<CacheOutcome> = new Set(['first-request', 'expired', 'prefix-changed', 'not-cached'])

type FullWindow = { readonly size: number; readonly grown: number; readonly state: Omit<AloneState, 'size'> }

/** The client asks for a summary of its cached conversation, and sends it with the new messages. */
function compacted(request: AloneRequest, { size: full, grown, state }: FullWindow): Alone {
  const { usage, model, overhead } = request
  const written = state.summary ?? typicalSummary
  const size = Math.min(Math.round(scaleOf(request) * overhead()) + written + grown, full + grown)
  const asking = costOf({ ...noTokens, cacheRead: full, output: written }, model)
  const sending = costOf(promptOf(size, written + grown, usage), model)
  const cost = asking === undefined || sending === undefined ? undefined : asking + sending
  return { tokens: size, cost, state: { ...state, size } }
}

/** A prompt of `size` tokens with the tiers and the output of an answer. `fresh` tokens are in no cache. */
function promptOf(size: number, fresh: number, usage: TokenCounts): TokenCounts {
  const { input, output, cacheRead, cacheWrite, cacheWriteHour } = usage
  if (cacheRead + cacheWrite === 0) return { ...noTokens, input: size, output }
  // Without a price for cache writes, new tokens are plain input.
  if (cacheWrite === 0) return { ...noTokens, input: fresh, cacheRead: size - fresh, output }
  const tail = Math.min(input, fresh)
  const write = fresh - tail
  const hour = Math.round((write * cacheWriteHour) / cacheWrite)
  return { input: tail, cacheRead: size - fresh, cacheWrite: write, cacheWriteHour: hour, output }
}
