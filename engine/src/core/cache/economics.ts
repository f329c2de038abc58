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
  /** Of the requests to come, the share that will find the cache cold and write all of it again: none unless told. */
  readonly coldShare?: number | undefined
  readonly price?: Price | undefined
  /** What goes has been carried so far, in tokens times requests; where nobody says, it has been carried long enough. */
  readonly carried?: number | undefined
  /** Where one will come by itself: what goes puts it off, for better or worse. */
  readonly compaction?: CompactionAhead | undefined
  /** Multiples of the input price; those left out are the documented ones. */
  readonly prices?: { readonly read?: number; readonly write?: number; readonly writeHour?: number } | undefined
}

/** The compaction that comes when the context is full, in tokens. */
export type CompactionAhead = {
  /** The size at which it comes. */
  readonly at: number
  /** The size it leaves. */
  readonly after: number
  /** What it costs, at the input price: reading all, writing the summary, caching what is left. */
  readonly cost: number
  /** By which the context grows with each request. */
  readonly growth: number
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
  /** What a token costs in a request to come: read from the cache, or now and then written again. */
  readonly rent: number
  /** What is not paid any more, over all turns. */
  readonly saved: number
  /** What is paid once because the cached prefix ends earlier. Nothing when there was none. */
  readonly cost: number
  /** What putting off the compaction is worth: less than nothing where the compaction would have been the better deal. */
  readonly deferral: number
  readonly net: number
  /** After how many turns it has paid for itself; absent when it never does. */
  readonly breakEven?: number
  readonly pays: boolean
  /** Carrying it has cost as much as clearing it will: waiting any longer would cost more than clearing less often saves. */
  readonly isDue: boolean
  readonly dollars?: { readonly saved: number; readonly cost: number; readonly net: number }
}

/**
 * Warm: what goes would have been read each turn, and the suffix is written where it would have been read. Cold: all is
 * written anyway, so it costs nothing, and what goes is not even written. Unknown is taken for warm: the worse case.
 */
export function worthOf(input: WorthInput): Worth {
  const { freed, suffix, turns, cache, coldShare = 0, price, compaction, prices } = input
  const multiples = { ...cachePrices, ...prices }
  const { read } = multiples
  const write = cache.lifetime > fiveMinutes ? multiples.writeHour : multiples.write
  const isCold = cache.type === 'cold'
  const cost = isCold ? 0 : suffix * (write - read)
  const reads = freed * read
  // What a token costs in a request to come: read from the cache, or now and then written again.
  const rent = read + coldShare * (write - read)
  const saved = turns <= 0 ? 0 : isCold ? freed * (write + rent * (turns - 1)) : freed * rent * turns
  const deferral = compaction ? deferralOf(compaction, { freed, rent }) : 0
  const net = saved + deferral - cost
  const breakEven = isCold ? 0 : cost === 0 ? 0 : reads > 0 ? cost / reads : undefined
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
    ...(breakEven === undefined ? {} : { breakEven: tidy(breakEven) }),
    pays: net > 0,
    isDue: (input.carried ?? Number.POSITIVE_INFINITY) * rent >= cost,
    ...(price ? { dollars: { saved: inDollars(saved), cost: inDollars(cost), net: inDollars(net) } } : {}),
  }
}

/**
 * `saved` counts until the compaction would have come. Then the context is at `at - freed` instead of `after`, and works
 * its way up to the same compaction: freed / growth requests later. In a session that goes on and on, those requests
 * spread one compaction over more of them (the share of it that is saved), but each reads what a compaction would have
 * dropped (on average half of what lies between). The difference between the two averages is exact for steady growth.
 */
function deferralOf(
  ahead: CompactionAhead,
  { freed, rent }: { readonly freed: number; readonly rent: number },
): number {
  const { at, after, cost, growth } = ahead
  if (growth <= 0 || at <= after) return 0
  const sharePutOff = freed / (at - after)
  const carried = at - freed - after
  return cost * sharePutOff - (rent * carried * freed) / (2 * growth)
}

const fiveMinutes = 300_000

/** Multiples such as 0.1 leave crumbs that nobody wants to read. */
function tidy(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
