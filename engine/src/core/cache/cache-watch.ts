// What is known about the provider's cached prefix: what was read from it, what was deleted from it, and why it was missed.
import { blocksOf } from '../message/block.ts'
import { objectAt, stringAt } from '../message/json.ts'
import type { Message } from '../message/message.ts'

export type CacheWatch = {
  /** What the previous answer read from the cache. Undefined at the start and after a change of the prefix. */
  readonly baseline?: { readonly cacheRead: number; readonly time: number }
  /** Deleted by cache edits, as the previous answer reported: a drop of this size is no cache break. */
  readonly deletedTokens: number
}

export type AnswerSeen = {
  readonly cacheRead: number
  readonly time: number
  /** Cached tokens deleted by cache edits so far, if reported. */
  readonly deletedTokens?: number | undefined
  /** The server says that it cleared or summarized something in this request, so the prefix changed. */
  readonly isRewritten?: boolean | undefined
}

/** Both must be exceeded: caches are read in blocks, so small drops mean nothing. */
const minShare = 0.05
const minTokens = 2_000

/** Nothing is expected of the cache: at the start, and after a change of the prefix. */
export const freshWatch: CacheWatch = { deletedTokens: 0 }

/** `dropped`: tokens that should have been read from the cache and were not; 0 if it was hit. */
export function watchAnswer(watch: CacheWatch, seen: AnswerSeen) {
  const { cacheRead, time, deletedTokens = watch.deletedTokens, isRewritten } = seen
  const next: CacheWatch = { baseline: { cacheRead, time }, deletedTokens }
  if (!watch.baseline || isRewritten) return { watch: next, dropped: 0 }
  const expected = Math.max(0, watch.baseline.cacheRead - Math.max(0, deletedTokens - watch.deletedTokens))
  const dropped = expected - cacheRead
  return { watch: next, dropped: dropped > minTokens && dropped > expected * minShare ? dropped : 0 }
}

export type RequestParts = {
  readonly model?: string | undefined
  readonly system?: unknown
  readonly tools?: unknown
  readonly messages: readonly Message[]
}

export type Missed = {
  /** The last two requests. */
  readonly before?: RequestParts | undefined
  readonly now?: RequestParts | undefined
  /** Milliseconds between their answers, and how long the provider keeps a prefix. */
  readonly idle: number
  readonly lifetime: number
  readonly answer: unknown
}

/** Why the cache was missed, in prefix order: the first explains the most. The API's own diagnosis comes last. */
export function missedBecause({ before, now, idle, lifetime, answer }: Missed): readonly string[] {
  const changed = before && now ? changesBetween(before, now) : []
  const expired = idle >= lifetime ? [`the cache expired after ${Math.round(lifetime / 60_000)} minutes`] : []
  const causes = [...changed, ...expired]
  const diagnosis = diagnosisIn(answer)
  return [
    ...(causes.length > 0 ? causes : ['no cause is known here']),
    ...(diagnosis === undefined ? [] : [`the API says ${diagnosis}`]),
  ]
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

/** Cache marks move from request to request and change no prefix; a text is the same as one block with it. */
function isSame(one: unknown, other: unknown): boolean {
  const tidy = (key: string, value: unknown) =>
    key === 'cache_control' ? undefined : key === 'content' && typeof value === 'string' ? blocksOf(value) : value
  return JSON.stringify(one, tidy) === JSON.stringify(other, tidy)
}

/** `diagnostics.cache_miss_reason`; null means that the comparison was still running. */
function diagnosisIn(answer: unknown): string | undefined {
  const diagnostics = objectAt(answer, 'diagnostics')
  return stringAt(diagnostics, 'cache_miss_reason') ?? stringAt(objectAt(diagnostics, 'cache_miss_reason'), 'type')
}

/** What a conversation has deleted from the provider's cached prefix. */
export type CacheEditState = {
  /** Tool uses whose results are deleted. Sent again with every request while the cache is hit. */
  readonly deleted: readonly string[]
  /** The newest tool use of each of the last two deletions: cached prefixes end there. */
  readonly ends?: readonly string[]
  /** Tokens deleted since the newest answer, whose usage still counts them. */
  readonly asked?: number
}

export const noCacheEdits: CacheEditState = { deleted: [] }

/** `tokens` is the size of the newly deleted ones. The same object if nothing is new. */
export function withDeleted(state: CacheEditState, toolUseIds: readonly string[], tokens = 0): CacheEditState {
  const known = new Set(state.deleted)
  const fresh = [...new Set(toolUseIds)].filter((id) => !known.has(id))
  if (fresh.length === 0) return state
  const ends = [...(state.ends ?? []), ...fresh.slice(-1)].slice(-2)
  const asked = (state.asked ?? 0) + tokens
  return { deleted: [...state.deleted, ...fresh], ends, ...(asked > 0 ? { asked } : {}) }
}
