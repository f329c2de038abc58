// What tokens cost, whether the provider still has the prefix of a conversation, and whether a reduction pays: its savings in the
// coming turns against writing everything after the change to the cache again.
import { cachePrices, modelFacts, type Price, priceOf } from '../catalog/models.ts'
import { defined } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { TokenCounts, Usage } from '../message/usage.ts'

/** US dollars; undefined if the price is unknown. `price` overrides the catalog. */
export function costOf(
  counts: TokenCounts,
  model: string,
  options: { readonly price?: Price } = {},
): number | undefined {
  const facts = modelFacts(model)
  const prompt = counts.input + counts.cacheRead + counts.cacheWrite
  const price = options.price ?? (facts && priceOf(facts, prompt))
  if (!price) return undefined
  const hour = Math.min(counts.cacheWriteHour, counts.cacheWrite)
  const { read, write, writeHour } = cachePrices
  const asInput = counts.input + counts.cacheRead * read + (counts.cacheWrite - hour) * write + hour * writeHour
  return (asInput * price.input + counts.output * price.output) / 1_000_000
}

/** A multiple of the input price. */
export function writePrice({ lifetime }: Pick<CacheState, 'lifetime'>): number {
  return lifetime > cacheLifetimes.short ? cachePrices.writeHour : cachePrices.write
}

/** The extra cost, in US dollars, of tokens that were not read from the cache. Undefined if the price is unknown. */
export function missCost(
  tokens: number,
  { usage, price }: { readonly usage: Usage; readonly price: Price | undefined },
): number | undefined {
  // Providers that write their cache unasked do not charge for it.
  const paid = usage.cacheWrite > 0 ? writePrice({ lifetime: lifetimeWritten(usage) }) : 1
  return price && (tokens * (paid - cachePrices.read) * price.input) / 1_000_000
}

export type CacheState = {
  /** unknown: no answer, no time, or a clock that went backwards. */
  readonly type: 'warm' | 'cold' | 'unknown'
  readonly lastAnswer?: number
  /** How long a prefix is kept, in milliseconds. */
  readonly lifetime: number
}

export const cacheLifetimes = { short: 300_000, long: 3_600_000 } as const

export type CacheStateInput = {
  readonly messages: readonly ViewMessage[]
  readonly now: number
  /** Default: the lifetime of the newest recent answer that wrote to the cache, otherwise an hour. */
  readonly lifetime?: number | undefined
}

export function cacheStateOf({ messages, now, lifetime = lifetimeOf(messages) }: CacheStateInput): CacheState {
  const lastAnswer = newestAnswerTime(messages)
  if (lastAnswer === undefined) return { type: 'unknown', lifetime }
  if (lastAnswer > now) return { type: 'unknown', lastAnswer, lifetime }
  return { type: now - lastAnswer < lifetime ? 'warm' : 'cold', lastAnswer, lifetime }
}

/** Undefined if the newest answer has no time, even if earlier ones have one. */
export function newestAnswerTime(messages: readonly ViewMessage[]): number | undefined {
  return messages.findLast(({ role }) => role === 'assistant')?.time
}

/** How long the tokens that an answer wrote are kept. If only the head is kept for an hour, the lifetime of the messages counts. */
export function lifetimeWritten({ cacheWrite, cacheWriteHour }: Pick<Usage, 'cacheWrite' | 'cacheWriteHour'>): number {
  return cacheWriteHour > 0 && cacheWriteHour === cacheWrite ? cacheLifetimes.long : cacheLifetimes.short
}

function lifetimeOf(messages: readonly ViewMessage[]): number {
  const usage = messages.findLast(({ usage }) => usage && usage.cacheWrite > 0)?.usage
  return usage ? lifetimeWritten(usage) : cacheLifetimes.long
}

export type WorthInput = {
  readonly freed: number
  /** Tokens after the first changed message, which must be written to the cache again. */
  readonly suffix: number
  /** Expected requests, including the next one. */
  readonly turns: number
  readonly cache: CacheState
  /** Share of the expected requests that will find the cache cold. Default: 0. */
  readonly coldShare?: number | undefined
  readonly price?: Price | undefined
  /** How long the removed tokens have been in the context, in tokens × requests. Default: long enough. */
  readonly carried?: number | undefined
  /** The next compaction, which removal postpones. Undefined if none is expected. */
  readonly compaction?: CompactionAhead | undefined
}

/** The compaction at the threshold. Values are tokens. */
export type CompactionAhead = {
  readonly at: number
  readonly after: number
  /** In input tokens: reading everything, writing the summary, caching the rest. */
  readonly cost: number
  readonly growth: number
}

/** All values except the dollars are in input tokens. */
export type Worth = {
  readonly cache: CacheState['type']
  readonly freed: number
  readonly suffix: number
  readonly turns: number
  /** The multiples of the input price that were used. */
  readonly read: number
  readonly write: number
  /** The cost of a token per request: usually a cache read, sometimes a write. */
  readonly rent: number
  readonly saved: number
  /** Paid once because the cached prefix ends earlier. 0 if there was none. */
  readonly cost: number
  /** The value of postponing the compaction. Negative if the compaction would have been cheaper. */
  readonly deferral: number
  readonly net: number
  /** Number of turns until it has paid for itself. Undefined if it never does. */
  readonly breakEven?: number
  readonly pays: boolean
  /** Carrying the tokens has cost as much as clearing them will. Waiting longer costs more than clearing less often saves. */
  readonly isDue: boolean
  readonly dollars?: { readonly saved: number; readonly cost: number; readonly net: number }
}

/**
 * Warm: the removed tokens would have been read each turn, and the suffix is written instead of read. Cold: everything
 * is written anyway, so clearing costs nothing. Unknown counts as warm, the worse case.
 */
export function worthOf(input: WorthInput): Worth {
  const { freed, suffix, turns, cache, coldShare = 0, price, compaction } = input
  const { read } = cachePrices
  const write = writePrice(cache)
  const isCold = cache.type === 'cold'
  const cost = isCold ? 0 : suffix * (write - read)
  const rent = read + coldShare * (write - read)
  const saved = turns <= 0 ? 0 : isCold ? freed * (write + rent * (turns - 1)) : freed * rent * turns
  const deferral = compaction ? deferralOf(compaction, freed, rent) : 0
  const net = saved + deferral - cost
  const breakEven = cost === 0 ? 0 : freed * read > 0 ? tidy(cost / (freed * read)) : undefined
  const inDollars = (tokens: number) => (tokens * (price?.input ?? 0)) / 1_000_000
  return {
    cache: cache.type,
    freed,
    suffix,
    turns,
    read,
    write,
    rent,
    saved: tidy(saved),
    cost: tidy(cost),
    deferral: tidy(deferral),
    net: tidy(net),
    ...defined({ breakEven }),
    pays: net > 0,
    isDue: (input.carried ?? Number.POSITIVE_INFINITY) * rent >= cost,
    ...(price ? { dollars: { saved: inDollars(saved), cost: inDollars(cost), net: inDollars(net) } } : {}),
  }
}

/**
 * `saved` counts until the compaction would have happened. Then the context is at `at - freed` instead of `after`, and
 * reaches the same compaction freed / growth requests later. In an endless session those requests spread each
 * compaction over more requests, but each of them reads what the compaction would have dropped (on average half of the
 * difference). Exact for steady growth.
 */
function deferralOf({ at, after, cost, growth }: CompactionAhead, freed: number, rent: number): number {
  if (growth <= 0 || at <= after) return 0
  return (cost * freed) / (at - after) - (rent * (at - freed - after) * freed) / (2 * growth)
}

/** Removes floating-point noise. */
function tidy(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
