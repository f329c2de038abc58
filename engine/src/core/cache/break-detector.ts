// Detects that the provider's cache was missed where it should have been hit, and names the likely causes.
import { defined, numberAt, objectAt, stringAt } from '../message/json.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { Fingerprint } from './fingerprint.ts'

export type CacheWatch = {
  /** What the previous answer read from the cache. Undefined at the start and after a compaction. */
  readonly baseline?: {
    readonly cacheRead: number
    readonly time?: number | undefined
    readonly print?: Fingerprint | undefined
  }
  /** Deleted by cache edits, as reported by the previous answer. */
  readonly deletedTokens: number
}

export type AnswerSeen = {
  readonly usage: Pick<TokenCounts, 'cacheRead'>
  readonly time?: number | undefined
  /** Of the answered request. */
  readonly print?: Fingerprint | undefined
  /** Cached tokens deleted by cache edits so far, if reported. */
  readonly deletedTokens?: number | undefined
  /** The server says that it cleared or summarized something in this request, so the prefix changed. */
  readonly isRewritten?: boolean | undefined
  /** How long the provider keeps a prefix, in milliseconds. */
  readonly lifetime?: number | undefined
  /** For the API's own diagnosis. */
  readonly answer?: unknown
}

export type BreakCause =
  | { readonly type: 'model-changed'; readonly from: string; readonly to: string }
  | { readonly type: 'tools-changed' }
  | { readonly type: 'system-changed' }
  /** `message` is the first one that changed. */
  | { readonly type: 'messages-changed'; readonly message: number }
  | { readonly type: 'expired'; readonly idle: number; readonly lifetime: number }
  /** Probably evicted by the provider, or routed to another machine. */
  | { readonly type: 'unknown' }

export type Diagnosis = { readonly reason: string; readonly missedTokens?: number }

export type CacheBreak = {
  readonly type: 'cache-broken'
  /** Without deleted tokens. */
  readonly expected: number
  readonly read: number
  readonly dropped: number
  /** In prefix order; the first explains the most. */
  readonly causes: readonly BreakCause[]
  readonly diagnosis?: Diagnosis
}

/** Both must be exceeded: caches are read in blocks, so small drops mean nothing. */
const minShare = 0.05
const minTokens = 2_000

export const freshWatch: CacheWatch = { deletedTokens: 0 }

export function watchAnswer(
  watch: CacheWatch,
  seen: AnswerSeen,
): { readonly watch: CacheWatch; readonly found?: CacheBreak } {
  const { usage, time, print } = seen
  const deletedTokens = seen.deletedTokens ?? watch.deletedTokens
  const next: CacheWatch = { baseline: { cacheRead: usage.cacheRead, time, print }, deletedTokens }
  if (!watch.baseline || seen.isRewritten) return { watch: next }
  const expected = Math.max(0, watch.baseline.cacheRead - Math.max(0, deletedTokens - watch.deletedTokens))
  const dropped = expected - usage.cacheRead
  if (dropped <= minTokens || dropped <= expected * minShare) return { watch: next }
  const diagnosis = defined({ diagnosis: readDiagnosis(seen.answer) })
  const read = usage.cacheRead
  const causes = causesOf(watch, seen)
  return { watch: next, found: { type: 'cache-broken', expected, read, dropped, causes, ...diagnosis } }
}

/** Every compaction changes the prefix, so a drop is expected. */
export function afterCompaction(watch: CacheWatch): CacheWatch {
  return watch.baseline === undefined && watch.deletedTokens === 0 ? watch : freshWatch
}

function causesOf({ baseline }: CacheWatch, { print: now, time, lifetime }: AnswerSeen): readonly BreakCause[] {
  const causes: BreakCause[] = []
  const before = baseline?.print
  if (before && now) {
    const { model: from = '', messages } = before
    if (before.model !== now.model) causes.push({ type: 'model-changed', from, to: now.model ?? '' })
    if (before.tools !== now.tools) causes.push({ type: 'tools-changed' })
    if (before.system !== now.system) causes.push({ type: 'system-changed' })
    const message = messages.findIndex((print, at) => print !== now.messages[at])
    if (message >= 0) causes.push({ type: 'messages-changed', message })
  }
  if (baseline?.time !== undefined && time !== undefined && lifetime !== undefined) {
    const idle = time - baseline.time
    if (idle >= lifetime) causes.push({ type: 'expired', idle, lifetime })
  }
  return causes.length > 0 ? causes : [{ type: 'unknown' }]
}

/** `diagnostics.cache_miss_reason`; null means that the comparison was still running. */
export function readDiagnosis(answer: unknown): Diagnosis | undefined {
  const diagnostics = objectAt(answer, 'diagnostics')
  const detail = objectAt(diagnostics, 'cache_miss_reason')
  const reason = stringAt(diagnostics, 'cache_miss_reason') ?? stringAt(detail, 'type')
  if (reason === undefined) return undefined
  return { reason, ...defined({ missedTokens: numberAt(detail, 'cache_missed_input_tokens') }) }
}
