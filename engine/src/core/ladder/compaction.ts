// One compaction from the decision to the transcript: try the mechanisms of the ladder, measure, write, report. Manual,
// automatic and reactive compactions all go through here; whether one may run was decided before.
import type { CompactionCause, Mechanism, MechanismContext, MechanismResult } from '../mechanisms/mechanism.ts'
import { defined, type JsonObject } from '../message/json.ts'
import { noTokens, type TokenCounts } from '../message/usage.ts'
import type { ChainInfo, CompactionFailure, Tried } from '../ports/events.ts'
import type { CommitResult } from '../ports/ports.ts'
import { type Runtime, withFreed } from '../session/runtime.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import { inARow } from './breaker.ts'
import { type CompactionOptions, contextFor, targetOf, triggerOf } from './context.ts'
import { breakerText } from './guards.ts'
import type { LadderTrigger } from './ladder.ts'
import { runMechanism } from './run-mechanism.ts'

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

const openGate: Gate = async (records) => records

export async function compactNow(
  runtime: Runtime,
  options: CompactionOptions,
  gate = openGate,
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
  const mechanisms = ladder[ladderTrigger(options.cause)]
  const { tried, solution, reason } = await climb(mechanisms, context, (found) => judge(runtime, context, found))
  const durationMs = ports.now() - started
  if (!solution) return failed(runtime, options, { tried, reason })
  if (solution.type === 'delegated') tracker.askServer(solution.request)
  if (solution.type === 'reduced') conversation.edit(withFreed(solution))
  return succeeded(runtime, options, { context, solution, tried, written, durationMs })
}

function ladderTrigger(cause: CompactionCause): LadderTrigger {
  if (cause === 'person') return 'manual'
  return cause === 'overflow' ? 'overflow' : 'over-threshold'
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
  switch (solution.type) {
    case 'reduced':
      return `cleared ${solution.results}, freed ${solution.freed} tokens`
    case 'delegated':
      return `asked the server to leave out ${solution.results}, about ${solution.freed} tokens`
    case 'compacted':
      return `summarized by ${solution.mechanism}`
  }
}

/** Measures before it writes. */
function commit(runtime: Runtime, options: CompactionOptions, records: readonly JsonObject[]): CommitResult {
  const { conversation, gauge } = runtime
  const { cause, fits, signal } = options
  if (signal?.aborted) return { type: 'failed', reason: 'aborted', message: 'It was stopped.' }
  const model = fits?.name
  const view = conversation.view()
  const next = conversation.tryOut(records)
  // The size before may be reported and the size after is estimated, so both are also counted the same way.
  const count = ({ messages }: View) => gauge.weigher().tokens(messages, gauge.counting(model))
  const sizes = { before: gauge.size(view, model).tokens, after: gauge.size(next, model).tokens }
  const refusal =
    (count(next) < count(view) ? undefined : notSmaller(sizes)) ??
    (triggerOf(cause) === 'auto' ? notEnough(sizes, targetOf(runtime, options, view)) : undefined)
  if (refusal !== undefined) return { type: 'failed', reason: 'no_progress', message: refusal }
  const stored = conversation.commit(records)
  return stored.type === 'stored' ? { type: 'committed' } : { type: 'failed', message: stored.why }
}

/** For a result that is not applied yet. */
function judge(
  { conversation, gauge }: Runtime,
  { trigger, target, size }: MechanismContext,
  solution: Solution,
): string | undefined {
  const after =
    solution.type === 'reduced'
      ? gauge.size(conversation.tryOut(conversation.editRecords(withFreed(solution)))).tokens
      : size.tokens - (solution.type === 'delegated' ? solution.freed : 0)
  const sizes = { before: size.tokens, after }
  return notSmaller(sizes) ?? (trigger === 'auto' ? notEnough(sizes, target) : undefined)
}

/** By hand, smaller is enough. An automatic compaction must get well below the threshold, or the next follows at once. */
type Sizes = { readonly before: number; readonly after: number }

function notSmaller({ before, after }: Sizes): string | undefined {
  if (after < before) return undefined
  return `It would not make the context smaller: ${formatNumber(before)} → ${formatNumber(after)} tokens.`
}

function notEnough({ before, after }: Sizes, target: number): string | undefined {
  if (after < target) return undefined
  return `It frees too little: ${formatNumber(before)} → ${formatNumber(after)} tokens, and the target is ${formatNumber(target)}.`
}

type Success = {
  readonly context: MechanismContext
  readonly solution: Solution
  readonly tried: readonly Tried[]
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
  if (cause === 'person') tracker.compactionByHand()
  gauge.weighAgain()
  for (const worker of runtime.background) worker.afterCompaction(after)
  cleanUps.run({ tokens: after })
  const figures = {
    mechanism: report?.mechanism ?? tried.at(-1)?.mechanism ?? ladderTrigger(cause),
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

function failed(
  runtime: Runtime,
  { cause, signal }: CompactionOptions,
  { tried, reason: last }: Climbed,
): CompactionNotDone {
  const { tracker, ports } = runtime
  const trigger = triggerOf(cause)
  const reason = signal?.aborted ? 'aborted' : (last ?? 'nothing_to_compact')
  const detail = tried.findLast(({ outcome }) => outcome === 'failed')?.why ?? tried.at(-1)?.why ?? nothingThere
  ports.emit({ type: 'compaction-failed', trigger, reason, detail })
  // An abort, or a manual compaction that cannot work, says nothing about the next automatic one.
  if (reason !== 'aborted' && trigger === 'auto') {
    const wasOpen = tracker.now().breaker.isOpen
    tracker.compactionFailed()
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

const nothingThere = 'Not enough messages to compact.'
