// The prompt cache of one organization: the stored prefixes, their expiry, and what a request reads and writes. Entries exist
// only where a request had a breakpoint. Nothing is written until the answer begins.

import type { Cell, Prompt } from '../prompt/prompt.ts'
import type { Ttl } from '../request/request.ts'
import { type Chain, chainOf } from './chain.ts'

type Entry = { readonly ttl: Ttl; expires: number }

export type CacheUse = {
  readonly chain: Chain
  /** Number of cells read from the cache; 0 for a miss. */
  readonly hitCells: number
  readonly read: number
  readonly write5m: number
  readonly write1h: number
  /** Tokens after the last cached breakpoint. */
  readonly input: number
  /** The breakpoints that will exist after the answer begins: cell index and lifetime. */
  readonly breakpoints: readonly { readonly at: number; readonly ttl: Ttl }[]
}

export type PromptCache = {
  readonly look: (prompt: Prompt, started: number, minimum: number) => CacheUse
  readonly commit: (use: CacheUse, started: number) => void
  readonly size: () => number
}

/** Number of positions that a breakpoint checks, including its own. */
const lookBack = 20
const lifetimes: Readonly<Record<Ttl, number>> = { '5m': 5 * 60_000, '1h': 60 * 60_000 }
const maxEntries = 100_000

export function createPromptCache(): PromptCache {
  const entries = new Map<string, Entry>()
  return {
    look: (prompt, started, minimum) => lookUp(entries, prompt, { started, minimum }),
    commit: (use, started) => commit(entries, use, started),
    size: () => entries.size,
  }
}

function lookUp(
  entries: ReadonlyMap<string, Entry>,
  prompt: Prompt,
  at: { readonly started: number; readonly minimum: number },
): CacheUse {
  const chain = chainOf(prompt)
  const breakpoints = breakpointsOf(prompt.cells).filter((point) => (chain.ends[point.at] ?? 0) >= at.minimum)
  const isAlive = (index: number) => {
    const entry = entries.get(chain.keyAt(index))
    return entry !== undefined && entry.expires > at.started
  }
  let hit = -1
  for (const point of breakpoints) {
    for (let index = point.at; index > Math.max(hit, point.at - lookBack); index--) {
      if (isAlive(index)) hit = index
    }
  }
  return { chain, hitCells: hit + 1, breakpoints, ...split(chain, breakpoints, hit) }
}

function breakpointsOf(cells: readonly Cell[]): readonly { readonly at: number; readonly ttl: Ttl }[] {
  return cells.flatMap((cell, at) => (cell.mark === undefined ? [] : [{ at, ttl: cell.mark }]))
}

/**
 * Tokens up to the hit are read, tokens from there to the last breakpoint are written with the lifetime of each, and the rest is
 * plain input.
 */
function split(chain: Chain, breakpoints: CacheUse['breakpoints'], hit: number) {
  const read = chain.ends[hit] ?? 0
  const written: Record<Ttl, number> = { '5m': 0, '1h': 0 }
  let done = read
  for (const point of breakpoints) {
    const end = chain.ends[point.at] ?? 0
    if (end <= done) continue
    written[point.ttl] += end - done
    done = end
  }
  return { read, write5m: written['5m'], write1h: written['1h'], input: (chain.ends.at(-1) ?? 0) - done }
}

/** A lifetime starts with the request, for new entries and for those that it used. */
function commit(entries: Map<string, Entry>, use: CacheUse, started: number): void {
  const refresh = (index: number) => {
    const entry = entries.get(use.chain.keyAt(index))
    if (entry === undefined || entry.expires <= started) return false
    entry.expires = Math.max(entry.expires, started + lifetimes[entry.ttl])
    return true
  }
  if (use.hitCells > 0) refresh(use.hitCells - 1)
  for (const point of use.breakpoints) {
    const isRead = point.at < use.hitCells
    if (refresh(point.at) || isRead) continue
    const key = use.chain.keyAt(point.at)
    entries.delete(key)
    entries.set(key, { ttl: point.ttl, expires: started + lifetimes[point.ttl] })
  }
  if (entries.size > maxEntries) sweep(entries, started)
}

function sweep(entries: Map<string, Entry>, now: number): void {
  for (const [key, entry] of entries) if (entry.expires <= now) entries.delete(key)
  for (const key of entries.keys()) {
    if (entries.size <= maxEntries) return
    entries.delete(key)
  }
}
