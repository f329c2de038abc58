// Is it worth it: what a reduction saves in the turns to come, against writing what stands behind the change to the
// cache once more. Sums only, as data that can be shown; whoever asked decides.
import { cachePrices, type Price } from '../catalog/models.ts'
import type { CacheState } from './state.ts'

export type WorthInput = {
  /** Tokens that go. */
  readonly freed: number
  /** Tokens that stay behind the first changed message: they have to be written to the cache again. */
  readonly suffix: number
  /** Requests still to come, the next one included. */
  readonly turns: number
  readonly cache: CacheState
  readonly price?: Price | undefined
  /** Multiples of the input price; those left out are the documented ones. */
  readonly prices?: { readonly read?: number; readonly write?: number; readonly writeHour?: number } | undefined
}

/** All but the dollars in tokens at the input price. */
export type Worth = {
  readonly cache: CacheState['type']
  readonly freed: number
  readonly suffix: number
  readonly turns: number
  /** Multiples of the input price that were used. */
  readonly read: number
  readonly write: number
  /** What is not paid any more, over all turns. */
  readonly saved: number
  /** What is paid once because the cached prefix ends earlier. Nothing when there was none. */
  readonly cost: number
  readonly net: number
  /** After how many turns it has paid for itself; absent when it never does. */
  readonly breakEven?: number
  readonly pays: boolean
  readonly dollars?: { readonly saved: number; readonly cost: number; readonly net: number }
}

/**
 * Warm: what goes would have been read each turn, and the suffix is written where it would have been read. Cold: all is
 * written anyway, so it costs nothing, and what goes is not even written. Unknown is taken for warm: the worse case.
 */
export function worthOf({ freed, suffix, turns, cache, price, prices }: WorthInput): Worth {
  const multiples = { ...cachePrices, ...prices }
  const { read } = multiples
  const write = cache.lifetime > fiveMinutes ? multiples.writeHour : multiples.write
  const isCold = cache.type === 'cold'
  const cost = isCold ? 0 : suffix * (write - read)
  const reads = freed * read
  const saved = turns <= 0 ? 0 : isCold ? freed * write + reads * (turns - 1) : reads * turns
  const breakEven = isCold ? 0 : cost === 0 ? 0 : reads > 0 ? cost / reads : undefined
  const inDollars = (tokens: number) => (tokens * (price?.input ?? 0)) / 1_000_000
  return {
    cache: cache.type,
    freed,
    suffix,
    turns,
    read,
    write,
    saved: tidy(saved),
    cost: tidy(cost),
    net: tidy(saved - cost),
    ...(breakEven === undefined ? {} : { breakEven: tidy(breakEven) }),
    pays: saved > cost,
    ...(price ? { dollars: { saved: inDollars(saved), cost: inDollars(cost), net: inDollars(saved - cost) } } : {}),
  }
}

const fiveMinutes = 300_000

/** Multiples such as 0.1 leave crumbs that nobody wants to read. */
function tidy(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
