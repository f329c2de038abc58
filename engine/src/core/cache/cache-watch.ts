// Knowledge about the provider's cached prefix: what was read and deleted, and why it was missed.

import { objectAt, stringAt } from '../message/json.ts'
import { blocksOf, type Message, type ViewMessage } from '../message/message.ts'
import type { MissReason } from '../message/usage.ts'

/** Values of an earlier answer. */
type Baseline = {
  readonly cacheRead: number
  /** Tokens that the provider had in its cache after the answer: read and written. */
  readonly cached: number
  /** When its request was sent. Lifetimes start then. */
  readonly time: number
}

export type CacheWatch = {
  /** Undefined before the first answer. */
  readonly baseline?: Baseline
  /** Deleted by cache edits, as the previous answer reported. A drop of this size is no miss. */
  readonly deletedTokens: number
  /** Edits, a compaction or the server have changed the prefix since then. */
  readonly isChanged?: boolean
}

export type AnswerSeen = {
  readonly cacheRead: number
  readonly cacheWrite?: number
  readonly time: number
  /** Cached tokens deleted by cache edits so far, if reported. */
  readonly deletedTokens?: number | undefined
}

/** A miss exceeds both. Caches are read in blocks, so small drops mean nothing. */
const minShare = 0.05
const minTokens = 2_000

export const freshWatch: CacheWatch = { deletedTokens: 0 }

/** Notes that the prefix changes, so a miss is expected. */
export function changedWatch({ baseline }: CacheWatch): CacheWatch {
  return { ...(baseline ? { baseline } : {}), deletedTokens: 0, isChanged: true }
}

/** Starts from the newest answer of a conversation that was opened again. */
export function watchFrom(messages: readonly ViewMessage[]): CacheWatch {
  const { usage, time } = messages.findLast((message) => message.usage !== undefined) ?? {}
  if (!usage || time === undefined) return freshWatch
  return { baseline: baselineOf({ ...usage, time }), deletedTokens: 0 }
}

function baselineOf({ cacheRead, cacheWrite = 0, time }: AnswerSeen): Baseline {
  return { cacheRead, cached: cacheRead + cacheWrite, time }
}

/**
 * Decides by usage whether the cache was hit. A miss reads noticeably less than the request before it, or less than half of what
 * was cached then; a provider need not find all of it. `dropped`: tokens that were cached but not read.
 */
export function watchAnswer(watch: CacheWatch, seen: AnswerSeen) {
  const { cacheRead, deletedTokens = watch.deletedTokens } = seen
  const next: CacheWatch = { baseline: baselineOf(seen), deletedTokens }
  if (!watch.baseline) return { watch: next, dropped: 0, isHit: cacheRead > 0 }
  const deleted = Math.max(0, deletedTokens - watch.deletedTokens)
  const expected = Math.max(0, watch.baseline.cacheRead - deleted)
  const less = expected - cacheRead
  const cached = Math.max(0, watch.baseline.cached - deleted)
  const isLess = less > minTokens && less > expected * minShare
  const isHit = cacheRead > 0 && !isLess && cacheRead >= cached / 2
  return { watch: next, dropped: isHit ? 0 : Math.max(0, cached - cacheRead), isHit }
}

export type RequestParts = {
  readonly model?: string | undefined
  readonly system?: unknown
  readonly tools?: unknown
  readonly messages: readonly Message[]
}

export type MissInput = {
  /** The watch before the answer. */
  readonly watch: CacheWatch
  /** The last two requests. */
  readonly before?: RequestParts | undefined
  readonly now?: RequestParts | undefined
  /** Milliseconds between them, and how long the provider keeps a prefix. */
  readonly idle: number
  readonly lifetime: number
  readonly answer: unknown
}

export type MissCause = { readonly reason: MissReason; readonly why: string }

/**
 * Why the cache was missed. An expired cache comes first, because then everything was lost. `why` has all causes in prefix order,
 * and the API's own diagnosis last.
 */
export function missedBecause({ watch, before, now, idle, lifetime, answer }: MissInput): MissCause {
  const { baseline, isChanged } = watch
  if (!baseline) return { reason: 'first-request', why: 'it is the first request' }
  if (baseline.cached === 0) return { reason: 'not-cached', why: 'the request before left nothing in the cache' }
  const changed = [...(before && now ? changesBetween(before, now) : []), ...(isChanged ? ['Everlong changed it'] : [])]
  const isExpired = idle >= lifetime
  const expired = isExpired ? [`the cache expired after ${Math.round(lifetime / 60_000)} minutes`] : []
  const causes = [...changed, ...expired]
  const diagnosis = diagnosisIn(answer)
  const isOther = changed.length > 0 || /_changed$/.test(diagnosis ?? '')
  const reason = isExpired ? 'expired' : isOther ? 'prefix-changed' : 'unknown'
  const said = [
    ...(causes.length > 0 ? causes : ['no cause is known here']),
    ...(diagnosis === undefined ? [] : [`the API says ${diagnosis}`]),
  ]
  return { reason, why: said.join('; ') }
}

function changesBetween(before: RequestParts, now: RequestParts): readonly string[] {
  const message = before.messages.findIndex((one, at) => !isSame(one, now.messages[at]))
  return [
    ...(before.model === now.model ? [] : [`the model changed from ${before.model ?? ''} to ${now.model ?? ''}`]),
    ...(isSame(before.tools ?? [], now.tools ?? []) ? [] : ['the tools changed']),
    ...(isSame({ content: before.system ?? '' }, { content: now.system ?? '' }) ? [] : ['the system prompt changed']),
    ...(message < 0 ? [] : [`message ${message} changed`]),
  ]
}

/** Ignores cache marks, which move from request to request and change no prefix. A text equals one block with the same text. */
function isSame(one: unknown, other: unknown): boolean {
  const tidy = (key: string, value: unknown) =>
    key === 'cache_control' ? undefined : key === 'content' && typeof value === 'string' ? blocksOf(value) : value
  return JSON.stringify(one, tidy) === JSON.stringify(other, tidy)
}

/** `diagnostics.cache_miss_reason`. Null means that the comparison was still running. */
function diagnosisIn(answer: unknown): string | undefined {
  const diagnostics = objectAt(answer, 'diagnostics')
  return stringAt(diagnostics, 'cache_miss_reason') ?? stringAt(objectAt(diagnostics, 'cache_miss_reason'), 'type')
}

/** What a conversation has deleted from the provider's cached prefix. */
export type CacheEditState = {
  /** Tool uses whose results are deleted. Every request repeats them as long as the cache is hit. */
  readonly deleted: readonly string[]
  /** The newest tool use of each of the last two deletions. Cached prefixes end there. */
  readonly ends?: readonly string[]
  /** Tokens deleted after the newest answer, whose usage still counts them. */
  readonly asked?: number
}

export const noCacheEdits: CacheEditState = { deleted: [] }

/** `tokens` is the size of the newly deleted results. Returns the same object if nothing is new. */
export function withDeleted(state: CacheEditState, toolUseIds: readonly string[], tokens = 0): CacheEditState {
  const known = new Set(state.deleted)
  const fresh = [...new Set(toolUseIds)].filter((id) => !known.has(id))
  if (fresh.length === 0) return state
  const ends = [...(state.ends ?? []), ...fresh.slice(-1)].slice(-2)
  const asked = (state.asked ?? 0) + tokens
  return { deleted: [...state.deleted, ...fresh], ends, ...(asked > 0 ? { asked } : {}) }
}
