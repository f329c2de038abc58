// One compaction from wish to transcript: climb, measure, commit, tell. Manual, automatic and reactive go through here;
// whether one may run was decided before.

import type { CompactionCause, CompactRange, MechanismContext } from '../mechanisms/mechanism.ts'
import type { JsonObject } from '../message/json.ts'
import { noTokens, type TokenCounts } from '../message/usage.ts'
import type { ChainInfo, CompactionFailure, Tried } from '../ports/events.ts'
import type { Trigger } from '../ports/hooks.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { CommitResult } from '../ports/ports.ts'
import {
  countingFor,
  type Desk,
  freshWeigher,
  type ModelChoice,
  overheadOf,
  situationIn,
  sizeOf,
} from '../session/desk.ts'
import { targetShare } from '../session/settings.ts'
import { chainOf, withCompaction, withFailure } from '../session/tracking.ts'
import { buildRequest } from '../session/turn-request.ts'
import { inWords } from '../tokens/figure.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { View } from '../transcript/view/fold.ts'
import { type Climbed, climb, type Solution } from './climb.ts'
import type { LadderTrigger } from './ladder.ts'
import { summarizerPorts } from './summarizer-ports.ts'

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

export type CompactionDone = {
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
  /** What hooks have to say to the person. */
  readonly notices: readonly string[]
}

export type CompactionNotDone = {
  readonly type: 'not-compacted'
  readonly reason: CompactionFailure
  readonly detail: string
  readonly tried: readonly Tried[]
}

/** What a commit brought into the transcript. */
type Written = { records: readonly JsonObject[] }

/** Holds finished records back until they may go in; a string says that they may not, and why. */
export type Gate = (records: readonly JsonObject[]) => Promise<readonly JsonObject[] | string>

const openGate: Gate = async (records) => records

export async function compactNow(
  desk: Desk,
  wish: CompactionWish,
  gate = openGate,
): Promise<CompactionDone | CompactionNotDone> {
  const started = desk.ports.now()
  const written: Written = { records: [] }
  const context = contextFor(desk, wish, {
    commit: async (finished) => {
      const records = await gate(finished)
      if (typeof records !== 'string') return commit(desk, { wish, records, written })
      return { type: 'failed', reason: 'aborted', message: records }
    },
  })
  desk.emit({ type: 'compaction-started', trigger: wish.trigger, tokens: context.size.tokens })
  const climbed = await climb(desk.ladder[wish.stage], context, (solution) => judge(desk, context, solution))
  const done = { ...climbed, written, context, durationMs: desk.ports.now() - started }
  const { solution } = climbed
  if (!solution) return failed(desk, wish, done)
  if (solution.type === 'delegated') desk.delegated = solution.request
  if (solution.type === 'reduced') desk.conversation.edit(withFreed(solution.edits, solution.freed))
  return succeeded(desk, wish, { ...done, solution })
}

export function contextFor(
  desk: Desk,
  wish: CompactionWish,
  { commit }: Pick<MechanismContext, 'commit'>,
): MechanismContext {
  const { conversation } = desk
  const view = conversation.view()
  const situation = situationIn(desk, view, wish.fits)
  const threshold = situation.explanation.autoCompactThreshold.value
  const fitted = wish.fits?.name ?? desk.modelName
  return {
    view,
    situation,
    queued: conversation.queued(),
    trigger: wish.trigger,
    cause: wish.cause,
    instructions: wish.instructions ?? '',
    range: wish.range ?? {},
    target: Math.floor(threshold * targetShare(desk.settings)),
    size: situation.explanation.size,
    overhead: overheadOf(desk, fitted),
    counting: countingFor(desk, fitted),
    turnId: desk.tracking.turnId,
    request: () => buildRequest(desk, view).request,
    chain: chainOf(desk.tracking, { threshold, source: 'turn' }),
    place: conversation.place(),
    record: conversation.record,
    commit,
    ports: summarizerPorts(desk),
    signal: wish.signal,
  }
}

type CommitInput = {
  readonly wish: CompactionWish
  readonly records: readonly JsonObject[]
  readonly written: Written
}

/** Success is measured before anything is written, with the counter that measured before. */
function commit(desk: Desk, { wish, records, written }: CommitInput): CommitResult {
  const { conversation } = desk
  if (wish.signal?.aborted) return { type: 'failed', reason: 'aborted', message: 'It was stopped.' }
  const model = wish.fits?.name
  const view = conversation.view()
  const tried = conversation.tryOut(records)
  // What was reported of the one is a hard measure for the other, of which everything is guessed: counting both will do.
  const counted = (of: View) => desk.weigher.tokens(of.messages, countingFor(desk, model ?? desk.modelName))
  const { explanation } = situationIn(desk, view, wish.fits)
  const target = Math.floor(explanation.autoCompactThreshold.value * targetShare(desk.settings))
  const sizes = { before: sizeOf(desk, view, model).tokens, after: sizeOf(desk, tried, model).tokens }
  const refusal =
    (counted(tried) < counted(view) ? undefined : notSmaller(sizes)) ??
    (wish.trigger === 'auto' ? notEnough(sizes, target) : undefined)
  if (refusal !== undefined) return { type: 'failed', reason: 'no_progress', message: refusal }
  const stored = conversation.commit(records)
  if (stored.type === 'store-failed') return { type: 'failed', message: stored.why }
  written.records = records
  return { type: 'committed' }
}

/** By hand smaller is enough; by itself it has to get well below the threshold, or the next one would follow at once. */
type Sizes = { readonly before: number; readonly after: number }

function notSmaller(sizes: Sizes): string | undefined {
  return sizes.after < sizes.before ? undefined : `It would not make the context smaller: ${stepOf(sizes)}.`
}

function notEnough(sizes: Sizes, target: number): string | undefined {
  if (sizes.after < target) return undefined
  return `It frees too little: ${stepOf(sizes)}, and the target is ${inWords(target)}.`
}

function stepOf({ before, after }: Sizes): string {
  return `${inWords(before)} → ${inWords(after)} tokens`
}

/** Of a solution that is not yet applied. */
function judge(desk: Desk, { trigger, target, size }: MechanismContext, solution: Solution): string | undefined {
  const { conversation } = desk
  const after =
    solution.type === 'reduced'
      ? sizeOf(desk, conversation.tryOut(conversation.editRecords(withFreed(solution.edits, solution.freed)))).tokens
      : size.tokens - (solution.type === 'delegated' ? solution.freed : 0)
  const sizes = { before: size.tokens, after }
  return notSmaller(sizes) ?? (trigger === 'auto' ? notEnough(sizes, target) : undefined)
}

/** What several edits freed together stands with the first of them. */
export function withFreed(edits: readonly Edit[], freed: number): readonly Edit[] {
  return edits.map((edit, at) => ({ ...edit, freed: at === 0 ? freed : 0 }))
}

type Done = Climbed & { readonly written: Written; readonly context: MechanismContext; readonly durationMs: number }

function succeeded(desk: Desk, wish: CompactionWish, done: Done & { readonly solution: Solution }): CompactionDone {
  const { solution, context, tried, written, durationMs } = done
  const { chain, target } = context
  const report = solution.type === 'compacted' ? solution : undefined
  const after = sizeOf(desk, desk.conversation.view(), wish.fits?.name).tokens
  desk.tracking = withCompaction(desk.tracking, { turnId: desk.ports.newId(), isBelowTarget: after < target })
  desk.weigher = freshWeigher(desk, desk.modelName)
  desk.cleanUps.run({ tokens: after })
  const numbers = {
    mechanism: report?.mechanism ?? tried.at(-1)?.mechanism ?? wish.stage,
    usage: report?.usage ?? noTokens,
    ...(report?.cost === undefined ? {} : { cost: report.cost }),
    durationMs,
    chain,
  }
  const sizes = { tokensBefore: context.size.tokens, tokensAfter: after }
  const { trigger } = wish
  desk.emit({ type: 'compaction-finished', trigger, ...sizes, restored: report?.restored ?? 0, ...numbers })
  if (after >= chain.threshold) desk.emit({ type: 'still-over-threshold', tokens: after, threshold: chain.threshold })
  const told = { before: context.size.tokens, after, records: written.records, tried, notices: report?.notices ?? [] }
  return { type: 'compacted', ...told, ...numbers }
}

function failed(desk: Desk, wish: CompactionWish, { tried, reason }: Done): CompactionNotDone {
  const told = wish.signal?.aborted ? 'aborted' : (reason ?? 'nothing_to_compact')
  const detail = tried.findLast(({ outcome }) => outcome === 'failed')?.why ?? tried.at(-1)?.why ?? nothingThere
  desk.emit({ type: 'compaction-failed', trigger: wish.trigger, reason: told, detail })
  // A person who stops it, or asks for what cannot be done, says nothing about the next attempt.
  if (told !== 'aborted' && wish.trigger === 'auto') {
    const wasOpen = desk.tracking.breaker.isOpen
    desk.tracking = withFailure(desk.tracking)
    const { isOpen, failures } = desk.tracking.breaker
    if (isOpen && !wasOpen) desk.emit({ type: 'breaker-tripped', failures })
  }
  return { type: 'not-compacted', reason: told, detail, tried }
}

const nothingThere = 'Not enough messages to compact.'
