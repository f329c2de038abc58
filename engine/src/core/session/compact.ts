// Compaction in a session, from the decision to the transcript: try the mechanisms, measure, write, clean up. Manual,
// automatic and reactive compactions all go through here; whether one may run was decided before.
import { modelFacts } from '../catalog/models.ts'
import type { CompactionCause, CompactRange, MechanismContext } from '../mechanisms/mechanism.ts'
import { defined, type JsonObject } from '../message/json.ts'
import { announced, applied } from '../ports/apply-compaction.ts'
import type { AbortSignalPort, ModelRequest } from '../ports/model.ts'
import { type Compacted, type CompactedDraft, type Failed, failed, stopped } from '../ports/outcome.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { freesTooLittle, minFreed } from '../tokens/context-size.ts'
import { formatNumber } from '../tokens/figure.ts'
import { withSizeAfter } from '../transcript/format/compaction-records.ts'
import { afterFailure, afterHand, breakerText, inARow } from './breaker.ts'
import { earlyTarget } from './economy.ts'
import type { ModelChoice } from './gauge.ts'
import { type Found, tryMechanisms } from './mechanisms.ts'
import { type Runtime, summarizer, withFreed } from './runtime.ts'
import { buildRequest } from './turn-request.ts'

export type CompactionOptions = {
  readonly cause: CompactionCause
  readonly instructions?: string | undefined
  readonly range?: CompactRange | undefined
  /** The model whose window the context must fit, if that is not the one that summarizes. */
  readonly fits?: ModelChoice | undefined
  readonly signal?: AbortSignalPort | undefined
  /** Holds finished records back until they may be written, or fails. */
  readonly gate?: Gate | undefined
}

export type Gate = (records: readonly JsonObject[]) => Promise<readonly JsonObject[] | Failed>

export async function compactNow(runtime: Runtime, options: CompactionOptions): Promise<Compacted | Failed> {
  const { mechanisms, ports, tracker } = runtime
  const context = contextFor(runtime, options)
  const { trigger, size, threshold, signal } = context
  const chain = tracker.chain(threshold)
  const wasOpen = tracker.now().breaker.isOpen
  const started = ports.now()
  const result = await announced({ trigger, size, threshold, ports }, async () => {
    const apply = (found: Found) => applyFound(runtime, context, { found, options })
    const ended = await tryMechanisms(mechanisms.compact, { context, apply })
    if (signal?.aborted && ended.type === 'failed') return { ...ended, reason: 'aborted' }
    if (ended.type === 'declined') return { ...ended, type: 'failed', reason: 'nothing-to-compact' }
    if (ended.type === 'failed') return ended
    const after = cleanUp(runtime, options)
    const { mechanism = 'compact', usage, tried } = ended
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

/** What a mechanism gets when it runs. Three fields are computed when they are first read: most mechanisms need none. */
export function contextFor(runtime: Runtime, options: CompactionOptions): MechanismContext {
  const { conversation, gauge, tracker, restore, settings } = runtime
  const { cause, instructions = '', range = {}, fits, signal } = options
  const view = conversation.view()
  const situation = gauge.situation(view, fits)
  const { size, autoCompactThreshold, contextWindow } = situation.explanation
  const counting = gauge.counting(fits?.name)
  const { sessionId, tip, envelope, transcript } = conversation.place()
  const { recall, isAutonomous } = settings
  let built: ModelRequest | undefined
  const request = () => {
    built ??= buildRequest(runtime, view).request
    return built
  }
  return {
    trigger: cause === 'person' ? 'manual' : 'auto',
    reason: cause,
    view,
    situation,
    recordOf: conversation.record,
    get conversation() {
      return request()
    },
    get settings() {
      const room = contextWindow.value - size.tokens
      const shareCache = settings.summary.shareCache && fitsOnceMore(request(), room)
      return { ...settings.summary, shareCache }
    },
    instructions,
    range,
    counting,
    get viewTokens() {
      return situation.weigher.tokens(view.messages, counting)
    },
    overhead: gauge.overhead(fits?.name),
    size: size.tokens,
    get scale() {
      return gauge.scale(view, fits?.name)
    },
    threshold: autoCompactThreshold.value,
    sessionWindow: contextWindow.value,
    // A compaction that comes before the threshold has to get below a share of the size.
    target: cause === 'economy' ? earlyTarget(view, situation, gauge.overhead()) : situation.target,
    queued: conversation.queued(),
    restore,
    ...defined({ recall, isAutonomous }),
    transcriptPath: transcript,
    turnId: tracker.now().turnId,
    sessionId,
    lastUuid: tip ?? undefined,
    envelope,
    ports: summarizerPorts(runtime),
    signal,
  }
}

/** Tokens for the instruction to summarize. */
const instructionRoom = 3_000

/** Cache sharing sends the whole request again with the instruction at its end, which has to fit the window. */
function fitsOnceMore({ model, maxTokens = 0 }: ModelRequest, room: number): boolean {
  const output = modelFacts(model)?.endsAtWindow ? 0 : maxTokens
  return instructionRoom + output < room
}

/** The session's ports with a model client whose requests are counted and that knows the window as the session does. */
function summarizerPorts(runtime: Runtime): CompactionPorts {
  const { gauge, ports } = runtime
  return {
    ...ports,
    model: summarizer(runtime),
    // A limit that the summarizer met is learned here, which emits the event under the session's name.
    emit: (event) => (event.type === 'limit-learned' ? gauge.learnLimit(event) : ports.emit(event)),
  }
}

type Applying = { readonly found: Found; readonly options: CompactionOptions }

/** Writes what a mechanism found, if it frees enough. */
async function applyFound(
  runtime: Runtime,
  context: MechanismContext,
  { found, options }: Applying,
): Promise<Found | Failed> {
  const { conversation, gauge, tracker } = runtime
  if (found.type === 'compacted')
    return applied(found, { ...context, write: (compaction) => write(runtime, context, { compaction, options }) })
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

/** By hand, a tenth must go. An automatic compaction must get well below the threshold, or the next follows at once. */
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

/** Forgets what described the state before a compaction. Returns the size after it. */
function cleanUp(runtime: Runtime, { cause, fits }: CompactionOptions): number {
  const { conversation, gauge, tracker, cleanUps, ports, background } = runtime
  const after = gauge.size(conversation.view(), fits?.name).tokens
  tracker.compaction(ports.newId())
  if (cause === 'person') tracker.changeBreaker(afterHand)
  gauge.weighAgain()
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
