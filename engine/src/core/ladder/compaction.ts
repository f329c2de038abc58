// One compaction from wish to transcript: climb, measure, commit, tell. Manual, automatic and reactive go through here;
// whether one may run was decided before.
import type { JsonObject } from '../message/json.ts'
import type { TokenCounts } from '../message/usage.ts'
import { noTokens } from '../message/usage.ts'
import type { ChainInfo, CompactionFailure } from '../ports/events.ts'
import type { Trigger } from '../ports/hooks.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { ContextSize } from '../tokens/context-size.ts'
import { inWords } from '../tokens/figure.ts'
import type { Edit } from '../transcript/edits.ts'
import type { View } from '../transcript/fold.ts'
import { type Climbed, climb, type Judge, type Solution } from './climb.ts'
import { type Desk, freshWeigher, type ModelChoice, situationIn, sizeOf } from './desk.ts'
import { buildRequest } from './request.ts'
import type { CompactionCause, CompactRange, LadderTrigger, RungContext, Tried } from './rung.ts'
import { targetShare } from './settings.ts'
import { chainOf, withCompaction, withFailure } from './tracking.ts'

export type CompactionWish = {
  readonly stage: LadderTrigger
  readonly trigger: Trigger
  readonly cause: CompactionCause
  readonly instructions?: string | undefined
  readonly range?: CompactRange | undefined
  /** The model the context must fit, where it is not the one that summarises. */
  readonly fits?: ModelChoice | undefined
  readonly signal?: AbortSignalPort | undefined
}

export type Compacted = {
  readonly type: 'compacted'
  readonly mechanism: string
  readonly before: number
  readonly after: number
  /** Boundary, summary, attachments, hook results, as they stand in the transcript. */
  readonly records: readonly JsonObject[]
  readonly usage: TokenCounts
  readonly cost?: number
  readonly durationMs: number
  readonly tried: readonly Tried[]
  readonly chain: ChainInfo
}

export type NotCompacted = {
  readonly type: 'not-compacted'
  readonly reason: CompactionFailure
  readonly detail: string
  readonly tried: readonly Tried[]
}

export async function compactNow(desk: Desk, wish: CompactionWish): Promise<Compacted | NotCompacted> {
  const started = desk.ports.now()
  const context = contextFor(desk, wish)
  const { size } = context.situation.explanation
  desk.emit({ type: 'compaction-started', trigger: wish.trigger, tokens: size.tokens })
  const climbed = await climb(desk.ladder[wish.stage], context, judgeFor(desk, { wish, context, before: size }))
  return conclude(desk, wish, { climbed, context, started })
}

export type Attempt = {
  readonly climbed: Climbed
  readonly context: RungContext
  /** Milliseconds since 1970. */
  readonly started: number
}

/** Applies what was found, or says why nothing was. */
export async function conclude(
  desk: Desk,
  wish: CompactionWish,
  { climbed, context, started }: Attempt,
): Promise<Compacted | NotCompacted> {
  const { solution, tried, reason } = climbed
  if (wish.signal?.aborted) return failed(desk, wish, { reason: 'aborted', tried })
  if (!solution) return failed(desk, wish, { reason: reason ?? 'nothing_to_compact', tried })
  const before = sizeOf(desk, desk.conversation.view(), wish.fits?.name)
  const why = applySolution(desk, solution)
  if (why !== undefined) return failed(desk, wish, { reason: 'write_failed', tried, detail: why })
  const { chain, target } = context
  const after = sizeOf(desk, desk.conversation.view(), wish.fits?.name)
  const durationMs = desk.ports.now() - started
  return succeeded(desk, wish, { solution, before, after, chain, tried, durationMs, target })
}

export function contextFor(desk: Desk, wish: CompactionWish, view: View = desk.conversation.view()): RungContext {
  const { conversation, ports, model } = desk
  const situation = situationIn(desk, view, wish.fits)
  const threshold = situation.explanation.autoCompactThreshold.value
  return {
    view,
    situation,
    ledger: conversation.ledger,
    trigger: wish.trigger,
    cause: wish.cause,
    instructions: wish.instructions ?? '',
    range: wish.range ?? {},
    target: Math.floor(threshold * targetShare(desk.settings)),
    request: () => buildRequest(desk, view).request,
    chain: chainOf(desk.tracking, { threshold, source: 'turn' }),
    place: conversation.place(),
    sizeWith: (records) => sizeOf(desk, conversation.tryOut(records), wish.fits?.name),
    record: conversation.record,
    ports: { ...ports, model, emit: desk.emit },
    signal: wish.signal,
  }
}

/**
 * Success is measured, with the counter that measured before. By hand smaller is enough; by itself a compaction has to
 * get well below the threshold, or the next one would follow at once.
 */
export function judgeFor(
  desk: Desk,
  how: { readonly wish: CompactionWish; readonly context: RungContext; readonly before: ContextSize },
): Judge {
  const { wish, context, before } = how
  return (solution) => {
    const after = sizeAfter(desk, solution, { before, model: wish.fits?.name })
    const numbers = `${inWords(before.tokens)} → ${inWords(after)} tokens`
    if (after >= before.tokens) return `It would not make the context smaller: ${numbers}.`
    if (wish.trigger === 'manual' || after < context.target) return undefined
    return `It frees too little: ${numbers}, and the target is ${inWords(context.target)}.`
  }
}

function sizeAfter(
  desk: Desk,
  solution: Solution,
  { before, model }: { readonly before: ContextSize; readonly model: string | undefined },
): number {
  const { conversation } = desk
  if (solution.type === 'delegated') return before.tokens - solution.freed
  const records =
    solution.type === 'compacted' ? solution.records : conversation.editRecords(withFreed(solution.edits, solution.freed))
  return sizeOf(desk, conversation.tryOut(records), model).tokens
}

/** A string says why it could not be written. */
function applySolution(desk: Desk, solution: Solution): string | undefined {
  const { conversation } = desk
  if (solution.type === 'delegated') {
    desk.delegated = solution.request
    return undefined
  }
  const records =
    solution.type === 'compacted' ? solution.records : conversation.editRecords(withFreed(solution.edits, solution.freed))
  const stored = conversation.commit(records)
  return stored.type === 'store-failed' ? stored.why : undefined
}

/** What several edits freed together stands with the first of them. */
export function withFreed(edits: readonly Edit[], freed: number): readonly Edit[] {
  return edits.map((edit, at) => ({ ...edit, freed: at === 0 ? freed : 0 }))
}

type Done = Pick<Compacted, 'chain' | 'tried' | 'durationMs'> & {
  readonly solution: Solution
  readonly before: ContextSize
  readonly after: ContextSize
  readonly target: number
}

async function succeeded(desk: Desk, wish: CompactionWish, done: Done): Promise<Compacted> {
  const { solution, before, after, chain, tried, durationMs, target } = done
  const isCompacted = solution.type === 'compacted'
  const { mechanism = tried.at(-1)?.rung ?? wish.stage, usage = noTokens, cost } = isCompacted ? solution : {}
  const costs = cost === undefined ? {} : { cost }
  desk.tracking = withCompaction(desk.tracking, { turnId: desk.ports.newId(), isBelowTarget: after.tokens < target })
  desk.weigher = freshWeigher(desk, desk.modelName)
  const numbers = { mechanism, usage, ...costs, durationMs, chain }
  desk.emit({
    type: 'compaction-finished',
    trigger: wish.trigger,
    tokensBefore: before.tokens,
    tokensAfter: after.tokens,
    restored: isCompacted ? solution.restored : 0,
    ...numbers,
  })
  if (after.tokens >= chain.threshold) {
    desk.emit({ type: 'still-over-threshold', tokens: after.tokens, threshold: chain.threshold })
  }
  if (isCompacted) await solution.finish?.(after)
  const records = isCompacted ? solution.records : []
  return { type: 'compacted', before: before.tokens, after: after.tokens, records, tried, ...numbers }
}

function failed(
  desk: Desk,
  wish: CompactionWish,
  how: { readonly reason: CompactionFailure; readonly tried: readonly Tried[]; readonly detail?: string },
): NotCompacted {
  const { reason, tried } = how
  const detail = how.detail ?? tried.at(-1)?.why ?? 'Not enough messages to compact.'
  desk.emit({ type: 'compaction-failed', trigger: wish.trigger, reason, detail })
  // A person who stops it, or asks for what cannot be done, says nothing about the next attempt.
  if (reason !== 'aborted' && wish.trigger === 'auto') {
    const wasOpen = desk.tracking.breaker.isOpen
    desk.tracking = withFailure(desk.tracking)
    const { isOpen, failures } = desk.tracking.breaker
    if (isOpen && !wasOpen) desk.emit({ type: 'breaker-tripped', failures })
  }
  return { type: 'not-compacted', reason, detail, tried }
}
