// One compaction from the decision to the transcript: try the mechanisms of the ladder, measure, write, report. Manual,
// automatic and reactive compactions all go through here; whether one may run was decided before.
import type {
  CompactionCause,
  CompactRange,
  Mechanism,
  MechanismContext,
  MechanismResult,
} from '../mechanisms/mechanism.ts'
import { defined, type JsonObject } from '../message/json.ts'
import { noTokens, type TokenCounts } from '../message/usage.ts'
import type { ChainInfo, CompactionFailure, Tried } from '../ports/events.ts'
import type { Trigger } from '../ports/hooks.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { CommitResult, CompactionPorts } from '../ports/ports.ts'
import type { ModelChoice } from '../session/gauge.ts'
import { type Runtime, summarizer, withFreed } from '../session/runtime.ts'
import { buildRequest } from '../session/turn-request.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import { afterFailure, afterHand, breakerText, inARow } from './breaker.ts'
import { earlyTarget } from './economy.ts'
import type { LadderTrigger } from './ladder.ts'
import { runMechanism } from './run-mechanism.ts'

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
    const committed = commit(runtime, options, records)
    if (committed.type === 'committed') written = records
    return committed
  })
  ports.emit({ type: 'compaction-started', trigger: context.trigger, tokens: context.size.tokens })
  const mechanisms = ladder[ladderTriggers[options.cause]]
  const climbed = await climb(mechanisms, context, (found) => judge(runtime, context, found))
  const { solution } = climbed
  const durationMs = ports.now() - started
  if (!solution) return failed(runtime, options, climbed)
  if (solution.type === 'delegated') tracker.askServer(solution.request)
  if (solution.type === 'reduced') conversation.edit(withFreed(solution))
  return succeeded(runtime, options, { ...climbed, context, solution, written, durationMs })
}

export type Solution = Exclude<MechanismResult, { readonly type: 'declined' | 'failed' }>

/** Says why a result is not good enough; undefined when it is. Committed compactions have been measured already. */
export type Judge = (solution: Solution) => string | undefined

export type Climbed = {
  readonly tried: readonly Tried[]
  readonly solution?: Solution
  /** Why the last mechanism failed, if none succeeded. */
  readonly reason?: CompactionFailure | undefined
}

/** Tries one mechanism after the other until one has a result that is good enough. Applies nothing. */
export async function climb(
  mechanisms: readonly Mechanism[],
  context: MechanismContext,
  judge: Judge = () => undefined,
): Promise<Climbed> {
  const tried: Tried[] = []
  let reason: CompactionFailure | undefined
  const note = (mechanism: string, outcome: Tried['outcome'], why: string) => {
    tried.push({ mechanism, outcome, why })
    context.ports.emit({ type: 'mechanism-tried', mechanism, outcome, why })
  }
  for (const mechanism of mechanisms) {
    const { name } = mechanism
    if (context.signal?.aborted) return { tried, reason: 'aborted' }
    const result = await runMechanism(mechanism, context)
    if ('tried' in result) tried.push(...(result.tried ?? []))
    if (result.type === 'declined') note(name, 'declined', result.why)
    else if (result.type === 'failed') {
      note(name, 'failed', result.why)
      reason = result.reason
      // A person or a hook that said no means the remaining mechanisms too.
      if (reason === 'aborted' || reason === 'vetoed') return { tried, reason }
    } else {
      const problem = result.type === 'compacted' ? undefined : judge(result)
      note(name, problem === undefined ? 'done' : 'failed', problem ?? describe(result))
      if (problem === undefined) return { tried, solution: result }
      reason = 'no_progress'
    }
  }
  return { tried, ...defined({ reason }) }
}

function describe(solution: Solution): string {
  if (solution.type === 'compacted') return `summarized by ${solution.mechanism}`
  const { results, freed } = solution
  if (solution.type === 'reduced') return `cleared ${results}, freed ${freed} tokens`
  return `asked the server to leave out ${results}, about ${freed} tokens`
}

const ladderTriggers: Readonly<Record<CompactionCause, LadderTrigger>> = {
  person: 'manual',
  overflow: 'overflow',
  threshold: 'over-threshold',
  economy: 'over-threshold',
  'model-switch': 'over-threshold',
  background: 'over-threshold',
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
    trigger: triggerOf(options),
    cause,
    instructions,
    range,
    target: targetOf(runtime, options, view),
    size,
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

function triggerOf({ cause }: CompactionOptions): Trigger {
  return cause === 'person' ? 'manual' : 'auto'
}

/** What the size must get below: a share of the threshold, or of the size if the compaction comes before the threshold. */
function targetOf({ gauge }: Runtime, { cause, fits }: CompactionOptions, view: View): number {
  const situation = gauge.situation(view, fits)
  return cause === 'economy' ? earlyTarget(view, situation, gauge.overhead()) : situation.target
}

function summarizerPorts(runtime: Runtime): CompactionPorts {
  const { gauge, ports } = runtime
  return {
    ...ports,
    model: summarizer(runtime),
    // A limit that the summarizer met is learned here, which emits the event under the session's name.
    emit: (event) => (event.type === 'limit-learned' ? gauge.learnLimit(event) : ports.emit(event)),
  }
}

/** Measures before it writes. */
function commit(runtime: Runtime, options: CompactionOptions, records: readonly JsonObject[]): CommitResult {
  const { conversation, gauge } = runtime
  if (options.signal?.aborted) return { type: 'failed', reason: 'aborted', message: 'It was stopped.' }
  const model = options.fits?.name
  const view = conversation.view()
  const next = conversation.tryOut(records)
  const before = gauge.size(view, model).tokens
  const after = gauge.size(next, model).tokens
  // The size before may be reported and the size after is estimated: counted the same way it may still be smaller.
  const count = ({ messages }: View) => gauge.weigher().tokens(messages, gauge.counting(model))
  const isSmaller = after < before || count(next) < count(view)
  const target = triggerOf(options) === 'auto' ? targetOf(runtime, options, view) : undefined
  const problem = problemWith({ before, after, isSmaller, target })
  if (problem !== undefined) return { type: 'failed', reason: 'no_progress', message: problem }
  const stored = conversation.commit(records)
  return stored.type === 'stored' ? { type: 'committed' } : { type: 'failed', message: stored.why }
}

/** For a result that is not applied yet. */
function judge({ conversation, gauge }: Runtime, context: MechanismContext, solution: Solution): string | undefined {
  const before = context.size.tokens
  const after =
    solution.type === 'reduced'
      ? gauge.size(conversation.tryOut(conversation.editRecords(withFreed(solution)))).tokens
      : before - (solution.type === 'delegated' ? solution.freed : 0)
  const target = context.trigger === 'auto' ? context.target : undefined
  return problemWith({ before, after, isSmaller: after < before, target })
}

type Sizes = {
  readonly before: number
  readonly after: number
  readonly isSmaller: boolean
  /** By hand, smaller is enough. An automatic compaction must get well below the threshold, or the next follows at once. */
  readonly target: number | undefined
}

function problemWith({ before, after, isSmaller, target }: Sizes): string | undefined {
  const sizes = `${formatNumber(before)} → ${formatNumber(after)} tokens`
  if (!isSmaller) return `It would not make the context smaller: ${sizes}.`
  if (target === undefined || after < target) return undefined
  return `It frees too little: ${sizes}, and the target is ${formatNumber(target)}.`
}

type Success = Required<Pick<Climbed, 'tried' | 'solution'>> & {
  readonly context: MechanismContext
  readonly written: readonly JsonObject[]
  readonly durationMs: number
}

function succeeded(runtime: Runtime, { cause, fits }: CompactionOptions, success: Success): CompactionDone {
  const { conversation, gauge, tracker, cleanUps, ports } = runtime
  const { context, solution, tried, written, durationMs } = success
  const { chain, target, trigger } = context
  const before = context.size.tokens
  const report = solution.type === 'compacted' ? solution : undefined
  const after = gauge.size(conversation.view(), fits?.name).tokens
  const wasOpen = tracker.now().breaker.isOpen
  tracker.compaction({ turnId: ports.newId(), isBelowTarget: after < target })
  if (cause === 'person') tracker.changeBreaker(afterHand)
  gauge.weighAgain()
  for (const worker of runtime.background) worker.afterCompaction(after)
  cleanUps.run({ tokens: after })
  const figures = {
    mechanism: report?.mechanism ?? tried.at(-1)?.mechanism ?? ladderTriggers[cause],
    usage: report?.usage ?? noTokens,
    ...defined({ cost: report?.cost }),
    durationMs,
    chain,
  }
  const sizes = { tokensBefore: before, tokensAfter: after }
  ports.emit({ type: 'compaction-finished', trigger, ...sizes, restored: report?.restored ?? 0, ...figures })
  if (after >= chain.threshold) ports.emit({ type: 'still-over-threshold', tokens: after, threshold: chain.threshold })
  const notices = [...(report?.notices ?? []), ...(hasTripped(runtime, wasOpen) ? [breakerText] : [])]
  return { type: 'compacted', before, after, records: written, tried, notices, ...figures }
}

function failed(runtime: Runtime, options: CompactionOptions, { tried, reason: last }: Climbed): CompactionNotDone {
  const { tracker, ports } = runtime
  const trigger = triggerOf(options)
  const reason = options.signal?.aborted ? 'aborted' : (last ?? 'nothing_to_compact')
  const cause = tried.findLast(({ outcome }) => outcome === 'failed') ?? tried.at(-1)
  const detail = cause?.why ?? 'Not enough messages to compact.'
  ports.emit({ type: 'compaction-failed', trigger, reason, detail })
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
