// One compaction from the decision to the transcript: try the mechanisms of the ladder, measure, write, report. Manual,
// automatic and reactive compactions all go through here; whether one may run was decided before.
import type { CompactionCause, CompactRange, MechanismContext } from '../mechanisms/mechanism.ts'
import { defined, type JsonObject } from '../message/json.ts'
import type { TokenCounts } from '../message/usage.ts'
import { type ChainInfo, type CompactionFailure, outcomesOf, type Tried } from '../ports/events.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { CommitResult, CompactionPorts } from '../ports/ports.ts'
import { formatNumber } from '../tokens/figure.ts'
import { freesTooLittle, minFreed } from '../tokens/size-scale.ts'
import { withSizeAfter } from '../transcript/format/compaction-records.ts'
import { afterFailure, afterHand, breakerText, inARow } from './breaker.ts'
import { earlyTarget } from './economy.ts'
import type { ModelChoice } from './gauge.ts'
import { type Climbed, climb, type LadderTrigger, type Solution, type Unapplied } from './ladder.ts'
import { type Runtime, summarizer, withFreed } from './runtime.ts'
import { buildRequest } from './turn-request.ts'

export type CompactionOptions = {
  readonly cause: CompactionCause
  readonly instructions?: string | undefined
  readonly range?: CompactRange | undefined
  /** The model whose window the context must fit, if that is not the one that summarizes. */
  readonly fits?: ModelChoice | undefined
  readonly signal?: AbortSignalPort | undefined
}

export type CompactionDone = {
  readonly type: 'compacted'
  readonly mechanism: string
  readonly before: number
  readonly after: number
  /** Boundary, summary, attachments and hook results, as written to the transcript. */
  readonly records: readonly JsonObject[]
  readonly usage: TokenCounts
  readonly cost?: number
  readonly durationMs: number
  readonly tried: readonly Tried[]
  readonly chain: ChainInfo
  /** What hooks want to tell the person. */
  readonly notices: readonly string[]
}

export type CompactionNotDone = {
  readonly type: 'not-compacted'
  readonly reason: CompactionFailure
  readonly detail: string
  readonly tried: readonly Tried[]
}

/** Holds finished records back until they may be written; a string says why they may not. */
export type Gate = (records: readonly JsonObject[]) => Promise<readonly JsonObject[] | string>

export async function compactNow(
  runtime: Runtime,
  options: CompactionOptions,
  gate: Gate = async (records) => records,
): Promise<CompactionDone | CompactionNotDone> {
  const { conversation, ladder, ports, tracker } = runtime
  const started = ports.now()
  let written: readonly JsonObject[] = []
  const context = contextFor(runtime, options, async (finished) => {
    const records = await gate(finished)
    if (typeof records === 'string') return { type: 'failed', reason: 'aborted', message: records }
    const { records: sized, ...measured } = measure(runtime, { records, fits: options.fits })
    const committed = commit(runtime, context, { records: sized, ...measured })
    if (committed.type === 'committed') written = sized
    return committed
  })
  ports.emit({ type: 'compaction-started', trigger: context.trigger, tokens: context.size.tokens })
  const rung = rungOf(options.cause)
  const climbed = await climb(ladder[rung], context, (found) => judge(runtime, context, found))
  const { solution, tried, spent } = climbed
  const durationMs = ports.now() - started
  if (!solution) return failed(runtime, context, { ...climbed, durationMs })
  if (solution.type === 'delegated') tracker.askServer(solution.request)
  if (solution.type === 'reduced') conversation.edit(withFreed(solution))
  const mechanism = solution.type === 'compacted' ? solution.mechanism : (tried.at(-1)?.mechanism ?? rung)
  const figures = { mechanism, records: written, tried, durationMs, spent }
  return succeeded(runtime, context, { solution, figures, fits: options.fits })
}

function rungOf(cause: CompactionCause): LadderTrigger {
  if (cause === 'person') return 'manual'
  return cause === 'overflow' ? 'overflow' : 'over-threshold'
}

const noCommit: MechanismContext['commit'] = async () => ({ type: 'failed', message: 'No compaction was requested.' })

/** What a mechanism gets when it runs. Without `commit` it cannot compact. */
export function contextFor(runtime: Runtime, options: CompactionOptions, commit = noCommit): MechanismContext {
  const { conversation, gauge, tracker, restore } = runtime
  const { cause, instructions = '', range = {}, fits, signal } = options
  const view = conversation.view()
  const situation = gauge.situation(view, fits)
  const { size, autoCompactThreshold } = situation.explanation
  return {
    view,
    situation,
    queued: conversation.queued(),
    trigger: cause === 'person' ? 'manual' : 'auto',
    cause,
    instructions,
    range,
    // A compaction that comes before the threshold has to get below a share of the size.
    target: cause === 'economy' ? earlyTarget(view, situation, gauge.overhead()) : situation.target,
    size,
    scale: () => gauge.scale(view, fits?.name),
    overhead: gauge.overhead(fits?.name),
    counting: gauge.counting(fits?.name),
    turnId: tracker.now().turnId,
    request: () => buildRequest(runtime, view).request,
    chain: tracker.chain(autoCompactThreshold.value),
    place: conversation.place(),
    record: conversation.record,
    commit,
    restore,
    ports: summarizerPorts(runtime),
    signal,
  }
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

type Measured = { readonly records: readonly JsonObject[]; readonly before: number; readonly after: number }

/** The sizes before and after these records, which then name the size that they leave. */
function measure(
  { conversation, gauge }: Runtime,
  { records, fits }: { readonly records: readonly JsonObject[]; readonly fits: ModelChoice | undefined },
): Measured {
  const { name: model } = fits ?? gauge.model()
  const view = conversation.view()
  const after = gauge.scale(view, model).toReported(gauge.estimate(conversation.tryOut(records), model))
  return { records: withSizeAfter(records, { after, model }), before: gauge.size(view, model).tokens, after }
}

/** Writes a compaction that frees enough. */
function commit(
  { conversation }: Runtime,
  context: MechanismContext,
  { records, before, after }: Measured,
): CommitResult {
  if (context.signal?.aborted) return { type: 'failed', reason: 'aborted', message: 'It was stopped.' }
  const problem = problemWith(context, { before, after })
  if (problem !== undefined) return { type: 'failed', reason: 'no_progress', message: problem }
  const stored = conversation.commit(records)
  if (stored.type !== 'stored') return { type: 'failed', message: stored.why }
  return { type: 'committed', tokensAfter: after }
}

/** For a result that is not applied yet. */
function judge({ conversation, gauge }: Runtime, context: MechanismContext, solution: Unapplied): string | undefined {
  const before = context.size.tokens
  const after =
    solution.type === 'reduced'
      ? gauge.size(conversation.tryOut(conversation.editRecords(withFreed(solution)))).tokens
      : before - solution.freed
  return problemWith(context, { before, after })
}

/** By hand, a tenth must go. An automatic compaction must get well below the threshold, or the next follows at once. */
function problemWith(
  { trigger, target }: MechanismContext,
  { before, after }: Pick<Measured, 'before' | 'after'>,
): string | undefined {
  const sizes = `${formatNumber(before)} → ${formatNumber(after)} tokens`
  if (after >= before) return `It would not make the context smaller: ${sizes}.`
  if (trigger === 'manual') return after <= before * (1 - minFreed) ? undefined : `${freesTooLittle}: ${sizes}.`
  if (after < target) return undefined
  return `It frees too little: ${sizes}, and the target is ${formatNumber(target)}.`
}

type Success = {
  readonly solution: Solution
  readonly figures: Pick<CompactionDone, 'mechanism' | 'records' | 'tried' | 'durationMs'> & Pick<Climbed, 'spent'>
  readonly fits: ModelChoice | undefined
}

function succeeded(runtime: Runtime, context: MechanismContext, { solution, figures, fits }: Success): CompactionDone {
  const { conversation, gauge, tracker, cleanUps, ports } = runtime
  const { chain, trigger, cause } = context
  const report = solution.type === 'compacted' ? solution : undefined
  const after = gauge.size(conversation.view(), fits?.name).tokens
  const wasOpen = tracker.now().breaker.isOpen
  tracker.compaction(ports.newId())
  if (cause === 'person') tracker.changeBreaker(afterHand)
  gauge.weighAgain()
  for (const worker of runtime.background) worker.afterCompaction(after)
  cleanUps.run({ tokens: after })
  const { records, tried, spent: all, mechanism, durationMs } = figures
  const { usage, cost, hitRate, attempts = 0 } = all
  const spent = { mechanism, durationMs, usage, ...defined({ cost }), chain }
  const attempted = { attempts, tried: outcomesOf(tried), ...defined({ hitRate }) }
  const before = context.size.tokens
  const restored = report?.restored ?? 0
  const sizes = { tokensBefore: before, tokensAfter: after }
  ports.emit({ type: 'compaction-finished', trigger, ...sizes, restored, ...spent, ...attempted })
  if (after >= chain.threshold) ports.emit({ type: 'still-over-threshold', tokens: after, threshold: chain.threshold })
  const notices = [...(report?.notices ?? []), ...(hasTripped(runtime, wasOpen) ? [breakerText] : [])]
  return { type: 'compacted', before, after, records, tried, notices, ...spent }
}

type Failure = Climbed & Pick<CompactionDone, 'durationMs'>

function failed(
  runtime: Runtime,
  context: MechanismContext,
  { tried, reason: last, spent, durationMs }: Failure,
): CompactionNotDone {
  const { tracker, ports } = runtime
  const { trigger, signal } = context
  const reason = signal?.aborted ? 'aborted' : (last ?? 'nothing_to_compact')
  const cause = tried.findLast(({ outcome }) => outcome === 'failed') ?? tried.at(-1)
  const detail = cause?.why ?? 'Not enough messages to compact.'
  const { usage, attempts = 0, cost, hitRate } = spent
  const attempted = { usage, attempts, tried: outcomesOf(tried), durationMs, ...defined({ cost, hitRate }) }
  ports.emit({ type: 'compaction-failed', trigger, reason, detail, ...attempted })
  // An abort, or a manual compaction that cannot work, says nothing about the next automatic one.
  if (reason !== 'aborted' && trigger === 'auto') {
    const wasOpen = tracker.now().breaker.isOpen
    tracker.changeBreaker(afterFailure)
    hasTripped(runtime, wasOpen)
  }
  return { type: 'not-compacted', reason, detail, tried }
}

/** Whether the breaker has just opened; emits the event if so. */
function hasTripped({ tracker, ports }: Runtime, wasOpen: boolean): boolean {
  const { breaker } = tracker.now()
  if (wasOpen || !breaker.isOpen) return false
  ports.emit({ type: 'breaker-tripped', failures: inARow(breaker) })
  return true
}
