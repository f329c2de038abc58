// Compaction in a session, from the decision to the transcript: may one run now, try the mechanisms, measure, write, clean up.
// Manual, automatic, reactive and background compactions all go through here.
import type { MechanismContext, Situation } from '../mechanisms/mechanism.ts'
import { compactionCosts } from '../mechanisms/situation.ts'
import { defined, errorText, type JsonObject, objectAt, stringsAt } from '../message/json.ts'
import { isRequest } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'
import type { AbortSignalPort, QuerySource } from '../ports/model.ts'
import {
  type Compacted,
  type CompactedDraft,
  type Declined,
  declined,
  type Failed,
  failed,
  type Success,
  stopped,
} from '../ports/outcome.ts'
import { applyCompaction, withEvents } from '../ports/ports.ts'
import { createStop } from '../ports/safely.ts'
import { freesTooLittle, minFreed } from '../tokens/context-size.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'
import { withSizeAfter } from '../transcript/format/compaction-records.ts'
import type { View } from '../transcript/view/fold.ts'
import { type CompactionOptions, contextFor, type Gate, tryMechanisms } from './mechanisms.ts'
import { type Runtime, withFreed } from './runtime.ts'
import { afterFailure, afterHand, breakerText, inARow } from './tracking.ts'
import { addedSince } from './turn.ts'

export async function compactNow(runtime: Runtime, options: CompactionOptions): Promise<Compacted | Failed> {
  const { mechanisms, ports, tracker } = runtime
  const context = contextFor(runtime, options)
  const { trigger, size, threshold, signal } = context
  const chain = tracker.chain(threshold)
  const wasOpen = tracker.now().breaker.isOpen
  const started = ports.now()
  const result = await withEvents({ trigger, size, threshold, ports }, async () => {
    const apply = (found: Success) => applyFound(runtime, context, { found, options })
    const ended = await tryMechanisms(mechanisms.compact, { context, apply })
    if (signal?.aborted && ended.type === 'failed') return { ...ended, reason: 'aborted' }
    if (ended.type === 'declined') return { ...ended, type: 'failed', reason: 'nothing-to-compact' }
    if (ended.type === 'failed') return ended
    const after = cleanUp(runtime, options)
    const { usage, tried } = ended
    const { mechanism = 'compact' } = ended.type === 'compacted' ? ended : (tried.at(-1) ?? {})
    const more = ended.type === 'compacted' ? ended : { ...defined({ cost: ended.cost }), records: [] }
    const { notices = [] } = ended.type === 'compacted' ? ended : {}
    const durationMs = Math.max(0, ports.now() - started)
    return { ...more, type: 'compacted', mechanism, before: size, after, usage, tried, chain, notices, durationMs }
  })
  if (result.type === 'failed') {
    // An abort, or a manual compaction that cannot work, says nothing about the next automatic one.
    if (result.reason !== 'aborted' && trigger === 'auto') tracker.changeBreaker(afterFailure)
    reportBreaker(runtime, wasOpen)
    return result
  }
  return reportBreaker(runtime, wasOpen) ? { ...result, notices: [...result.notices, breakerText] } : result
}

type Applying = { readonly found: Success; readonly options: CompactionOptions }

/** Writes the result of a mechanism if it frees enough. */
async function applyFound(
  runtime: Runtime,
  context: MechanismContext,
  { found, options }: Applying,
): Promise<Success | Failed> {
  const { conversation, gauge, tracker } = runtime
  if (found.type === 'compacted')
    return applyCompaction(found, {
      ...context,
      write: (compaction) => write(runtime, context, { compaction, options }),
    })
  const before = context.size
  const after =
    found.type === 'reduced'
      ? gauge.size(conversation.tryOut(conversation.editRecords(withFreed(found)))).tokens
      : before - found.freed
  const problem = problemWith(context, before, after)
  if (problem) return problem
  if (found.type === 'delegated') tracker.askServer(found.request)
  else conversation.edit(withFreed(found))
  return found
}

type Writing = { readonly compaction: CompactedDraft; readonly options: CompactionOptions }

/** Measures the context with these records, and writes them if it is small enough. */
async function write(
  { conversation, gauge }: Runtime,
  context: MechanismContext,
  { compaction, options: { gate, fits } }: Writing,
): Promise<CompactedDraft | Failed> {
  const records = gate ? await gate(compaction.records) : compaction.records
  if ('type' in records) return records
  if (context.signal?.aborted) return stopped
  const { name: model } = fits ?? gauge.model()
  const view = conversation.view()
  const before = gauge.size(view, model).tokens
  const after = gauge.scale(view, model).toReported(gauge.estimate(conversation.tryOut(records), model))
  const problem = problemWith(context, before, after)
  if (problem) return problem
  const sized = withSizeAfter(records, { after, model })
  const stored = conversation.commit(sized)
  if (stored.type !== 'stored') return failed('write-failed', stored.why)
  return { ...compaction, records: sized, before, after }
}

/** A manual compaction must free a tenth. An automatic one must get well below the threshold, or the next follows at once. */
function problemWith({ trigger, target }: MechanismContext, before: number, after: number): Failed | undefined {
  const sizes = `${formatNumber(before)} → ${formatNumber(after)} tokens`
  const problem = (why: string) => failed('no-progress', why)
  if (after >= before) return problem(`It would not make the context smaller: ${sizes}.`)
  if (trigger === 'manual')
    return after <= before * (1 - minFreed) ? undefined : problem(`${freesTooLittle}: ${sizes}.`)
  return after < target
    ? undefined
    : problem(`It frees too little: ${sizes}, and the target is ${formatNumber(target)}.`)
}

/** Clears state that describes the context before the compaction. Returns the size after it. */
function cleanUp(runtime: Runtime, { cause, fits }: CompactionOptions): number {
  const { conversation, gauge, tracker, cleanUps, ports, background } = runtime
  const after = gauge.size(conversation.view(), fits?.name).tokens
  tracker.compaction(ports.newId())
  if (cause === 'person') tracker.changeBreaker(afterHand)
  gauge.afterCompaction()
  for (const worker of background) worker.afterCompaction(after)
  cleanUps.run({ tokens: after })
  return after
}

/** Emits that the breaker has just opened, if it has. */
function reportBreaker({ tracker, ports }: Runtime, wasOpen: boolean): boolean {
  const { breaker } = tracker.now()
  if (wasOpen || !breaker.isOpen) return false
  ports.emit({ type: 'breaker-tripped', failures: inARow(breaker) })
  return true
}

export type BackgroundCompaction = {
  /** Whether it is finished or has failed. */
  readonly isReady: () => boolean
  /** Writes it, if the summarized messages have not changed. */
  readonly apply: () => Promise<Compacted | Failed>
  readonly cancel: (why: string) => Promise<void>
}

/** Starts one if the settings and the size call for it. */
export function startInBackground(runtime: Runtime): BackgroundCompaction | undefined {
  if (!isDue(runtime)) return undefined
  const { conversation } = runtime
  const { signal } = runtime.closing
  const source = conversation.view()
  let finished: { readonly records: readonly JsonObject[]; readonly write: (verdict: Verdict) => void } | undefined
  let cancelled: Failed | undefined
  let isOver = false
  const stop = createStop()
  signal.addEventListener('abort', stop.stop, { once: true })
  const gate: Gate = async (records) =>
    cancelled ??
    new Promise((write) => {
      finished = { records, write }
    })
  const outcome = compactNow(runtime, { cause: 'background', signal: stop.signal, gate })
    // Nothing may be awaiting this promise if writing fails.
    .catch((error: unknown) => failed('write-failed', errorText(error)))
    .finally(() => {
      isOver = true
      signal.removeEventListener('abort', stop.stop)
    })
  return {
    isReady: () => isOver || finished !== undefined,
    apply: () => {
      const added = addedSince(source, conversation.view())
      const { tip } = conversation.place()
      const changed = failed('aborted', 'What it summarized has changed meanwhile.')
      finished?.write(added ? withKept(finished.records, added, tip) : changed)
      return outcome
    },
    cancel: async (why) => {
      cancelled = failed('aborted', why)
      finished?.write(cancelled)
      // Does not wait for a model that is still writing.
      stop.stop()
      await outcome
    },
  }
}

type Verdict = Awaited<ReturnType<Gate>>

/** The share of the threshold with `background: true`. A summary is usually written before the last fifth is used. */
const defaultBackgroundShare = 0.8

/** The same guards as for any automatic compaction, as if the threshold were reached already. */
function isDue(runtime: Runtime): boolean {
  const { background } = runtime.settings
  if (background === false) return false
  const from = background === true ? defaultBackgroundShare : background.from
  const explanation = runtime.gauge.explanation()
  const { size, autoCompactThreshold: threshold, autoCompact } = explanation
  if (size.tokens < threshold.value * from || autoCompact.mode !== true) return false
  if (autoCompact.heldBackFrom !== undefined) return false
  return !whyNotCompact(runtime, { ...explanation, isAboveThreshold: true }, { source: 'turn', pays: false })
}

/** The same records. Messages that were added since count as kept. */
function withKept(records: readonly JsonObject[], added: readonly string[], tip: string | null): readonly JsonObject[] {
  if (added.length === 0) return records
  const anchorUuid = records.find(({ isCompactSummary }) => isCompactSummary === true)?.uuid
  return records.map((record) => {
    if (record.subtype !== 'compact_boundary') return record
    const data = objectAt(record, 'compactMetadata')
    const uuids = [...stringsAt(data?.preservedMessages, 'uuids'), ...added]
    const preservedSegment = { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) }
    const preservedMessages = { anchorUuid, uuids, allUuids: uuids }
    return {
      ...record,
      logicalParentUuid: tip,
      compactMetadata: { ...data, preservedSegment, preservedMessages },
    }
  })
}

/** Why an automatic compaction does not run now. */
export type GuardReason =
  | 'query-source' // the request of a compaction would wait for itself
  | 'not-due' // below the threshold, or off
  | 'reactive-only'
  | 'collapse-on'
  | 'breaker-open'
  | 'overhead' // system prompt and tools alone are over the threshold
  | 'refused' // ask mode: no, or no answer

export type Occasion = {
  readonly source: QuerySource
  /** It pays to compact before the threshold is reached. */
  readonly pays: boolean
}

/** Undefined when it may run. Asking a person is up to the caller. */
export function whyNotCompact(
  { gauge, settings, tracker }: Runtime,
  explanation: Explanation,
  { source, pays }: Occasion,
): Declined<GuardReason> | undefined {
  const { autoCompact, autoCompactThreshold: threshold, isAboveThreshold } = explanation
  const { breaker, isRefused } = tracker.now()
  if (source !== 'turn') return declined('query-source', `A request of ${source} never compacts.`)
  if (autoCompact.mode === false || (!isAboveThreshold && !pays)) return declined('not-due', '')
  if (settings.collapse) return declined('collapse-on', 'Collapsing keeps the context small.')
  if (settings.compaction === 'reactive')
    return declined('reactive-only', 'Compaction waits until the provider refuses.')
  const overhead = isAboveThreshold ? gauge.overhead() : 0
  if (overhead >= threshold.value) return declined('overhead', overheadText(overhead, threshold.value))
  if (breaker.isOpen) return declined('breaker-open', breakerText)
  if (autoCompact.mode === 'ask' && isRefused) return declined('refused', notAllowed)
  return undefined
}

export const notAllowed = 'It was asked for, and not allowed.'

function overheadText(overhead: number, threshold: number): string {
  return (
    `The system prompt, tools and memory files alone take ${formatNumber(overhead)} tokens, and the threshold is ` +
    `${formatNumber(threshold)}: compacting the conversation cannot help. Use fewer tools or a larger window.`
  )
}

/** Asks the host; no answer in time means no. A no holds until the next human message. */
export async function isAllowed(
  { ask, guard, settings, tracker }: Runtime,
  { size, autoCompactThreshold }: Explanation,
  signal: AbortSignalPort | undefined,
): Promise<boolean> {
  const question = { tokens: size.tokens, threshold: autoCompactThreshold.value }
  const isValid = (value: unknown) => value === undefined || typeof value === 'boolean'
  const options = { isValid, otherwise: false, timeoutMs: settings.askTimeoutMs, signal }
  const isYes = ask !== undefined && (await guard.read('ask', () => ask(question), options)) === true
  if (!isYes) tracker.set({ isRefused: true })
  return isYes
}

/** Forgetting counts as much as the price, so the limit is doubled. A thrifty session counts only the price. */
const costFactor = { default: 2, thrifty: 1 } as const

/**
 * Whether a compaction pays now: the tokens it would drop have already cost as much as the compaction will. With steady
 * growth that is the cheapest rhythm, and in any case it costs at most twice the optimum. In the middle of a turn a
 * compaction would remove results that are still in use, and with a cold cache it costs more: then the limit is doubled.
 */
export function paysToCompact(view: View, situation: Situation, economy: keyof typeof costFactor): boolean {
  const costs = compactionCosts(situation)
  if (!costs) return false
  const { cache, explanation } = situation
  const { tokens } = explanation.size
  const started = sizeBeforeTurn(view)
  // Results that the last turn read are cleared without a compaction.
  const spent = costs.rent * carriedAbove(view, { above: costs.after, now: started ?? tokens })
  const isGoodMoment = started !== undefined && cache.type === 'warm'
  return spent >= (costs.fixed + costs.perToken * tokens) * costFactor[economy] * (isGoodMoment ? 1 : 2)
}

/**
 * Adds up the tokens above a size over all past requests: with `above` 40,000, requests of 50,000 and 60,000 tokens give
 * 30,000. Counts only tokens that a context of `now` tokens still holds.
 */
function carriedAbove({ messages }: View, { above, now }: { readonly above: number; readonly now: number }): number {
  let left = now
  let sum = 0
  for (const { usage } of messages.toReversed()) {
    if (!usage) continue
    // Tokens that a later, smaller context lacks were cleared already: no compaction has to drop them.
    left = Math.min(left, contextTokens(usage))
    sum += Math.max(0, left - above)
  }
  return sum
}

/** Between two turns: the size of the context when the last turn began. */
function sizeBeforeTurn({ messages }: View): number | undefined {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  if (messages.findLastIndex(({ origin }) => isRequest(origin)) < last) return undefined
  const asked = messages.findLastIndex(({ origin }, at) => at < last && isRequest(origin))
  const first = messages.find(({ usage }, at) => at > asked && usage !== undefined)
  return first?.usage && contextTokens(first.usage)
}
