// Recovery after the provider refused a prompt as too long: takes the smallest step that should be enough and sends the request
// once more. The caller withholds the failure until then. Its steps are no mechanisms: each acts at once, some act without being
// enough, and two of them try a whole list of mechanisms, which reports its own attempts.
import { isText, isToolUse } from '../message/message.ts'
import { billedCounts, contextTokens } from '../message/usage.ts'
import type { AbortSignalPort, ModelAnswer, ModelFailure, ModelRequest } from '../ports/model.ts'
import { type Compacted, outcomesOf, type Tried } from '../ports/outcome.ts'
import { overflowOfAnswer } from '../request/refusal.ts'
import { compactionOff, type ReductionSettings } from '../settings/resolve.ts'
import { formatNumber } from '../tokens/figure.ts'
import { compactNow, isAllowed, notAllowed } from './compact.ts'
import { contextFor, tryMechanisms } from './mechanisms.ts'
import { shortenUnseen, stripMedia } from './oversized.ts'
import { type Runtime, reduceView } from './runtime.ts'
import { afterRecovery } from './tracking.ts'
import { buildRequest, windowExceeded } from './turn.ts'

/** The request to send now. */
type Remedy = { readonly request: ModelRequest; readonly compaction?: Compacted }

export type Recovery = { readonly steps: readonly Tried[] } & (
  | ({ readonly type: 'recovered' } & Remedy)
  | { readonly type: 'unrecovered'; readonly failure: ModelFailure }
)

type Attempt = {
  readonly runtime: Runtime
  readonly failure: ModelFailure
  readonly signal: AbortSignalPort | undefined
  readonly steps: Tried[]
}

/** Undefined when the step is not enough. */
type Step = (attempt: Attempt) => Promise<Remedy | undefined> | Remedy | undefined

/** The first step that yields a request ends the recovery. */
const stepsInOrder: readonly Step[] = [lowerOutput, withoutMedia, clearResults, shortenNew, compactAll]

export async function recover(
  runtime: Runtime,
  failure: ModelFailure,
  signal: AbortSignalPort | undefined,
): Promise<Recovery> {
  if (!isAboutLength(failure)) return { type: 'unrecovered', failure, steps: [] }
  const limit = failure.reason === 'overflow' ? failure.overflow?.limit : undefined
  if (limit !== undefined) runtime.gauge.learnLimit({ limit })
  const recovery = await tryInOrder(runtime, failure, signal)
  // A reader of the file may start after the compaction, and this request may be the last of the session.
  if (limit !== undefined) runtime.gauge.settle()
  return recovery
}

async function tryInOrder(
  runtime: Runtime,
  failure: ModelFailure,
  signal: AbortSignalPort | undefined,
): Promise<Recovery> {
  const steps: Tried[] = []
  const off = compactionOff(runtime)
  for (const step of off === undefined ? stepsInOrder : [lowerOutput]) {
    const remedy = await step({ runtime, failure, signal, steps })
    if (remedy) return { type: 'recovered', ...remedy, steps }
  }
  if (off !== undefined) steps.push({ mechanism: 'compact', outcome: 'declined', reason: 'turned-off', why: off })
  return { type: 'unrecovered', failure, steps }
}

export function isAboutLength({ reason }: ModelFailure): boolean {
  return reason === 'overflow' || reason === 'too-large'
}

/** Called once it is known whether the second request succeeded. */
export function reportRecovery({ gauge, ports }: Runtime, steps: readonly Tried[], isRecovered: boolean): void {
  const names = outcomesOf(steps)
  if (!isRecovered) ports.emit({ type: 'overflow-unrecovered', steps: names })
  else ports.emit({ type: 'overflow-recovered', steps: names, tokens: gauge.size().tokens })
}

/** With less room, or less than the reserve of a small window, an answer is not worth a request. */
const minOutput = 1_024

/** For input and output that together are too long: less output may be enough. */
function lowerOutput({ runtime, failure, steps }: Attempt): Remedy | undefined {
  const { actual, limit, maxTokens } = failure.overflow ?? {}
  if (actual === undefined || limit === undefined || maxTokens === undefined) return undefined
  const room = limit - actual
  const isEnough = room >= Math.min(minOutput, runtime.gauge.explanation().reserve.value)
  const why = isEnough
    ? `${formatNumber(maxTokens)} → ${formatNumber(room)} tokens of output.`
    : `Only ${formatNumber(Math.max(0, room))} tokens are left.`
  steps.push({ mechanism: 'lower-output', outcome: isEnough ? 'done' : 'declined', why })
  return isEnough ? { request: { ...remedyFor(runtime).request, maxTokens: room } } : undefined
}

function withoutMedia({ runtime, failure, steps }: Attempt): Remedy | undefined {
  if (failure.reason !== 'too-large') return undefined
  const isDone = stripMedia(runtime, failure)
  const why = isDone ? 'Images and documents left the context.' : 'There are no images or documents.'
  steps.push({ mechanism: 'strip-media', outcome: isDone ? 'done' : 'declined', why })
  return isDone ? remedyFor(runtime) : undefined
}

/**
 * Clears old results at any cost, even a few, because a refused request costs more. Enough if it covers the gap that the provider
 * named.
 */
async function clearResults({ runtime, failure, signal, steps }: Attempt): Promise<Remedy | undefined> {
  const context = contextFor(runtime, { cause: 'overflow', signal })
  const { settings: reductions } = context.situation
  const settings: ReductionSettings = {
    ...reductions,
    microCompact: reductions.microCompact === false ? false : 'always',
    weigh: false,
    bySize: { ...reductions.bySize, target: 0, minFreed: 0 },
  }
  const situation = { ...context.situation, settings, client: { cacheEdits: false, contextManagement: false } }
  const ended = await tryMechanisms(runtime.mechanisms.reduce, {
    context: { ...context, situation },
    apply: (found) => found,
  })
  steps.push(...ended.tried)
  if (ended.type !== 'reduced') return undefined
  reduceView(runtime, ended)
  return coversGap(runtime, failure, ended.freed) ? remedyFor(runtime) : undefined
}

/** Shortens results that no answer has seen. One alone may be larger than the window. */
function shortenNew({ runtime, failure, steps }: Attempt): Remedy | undefined {
  const before = runtime.gauge.size().tokens
  const done = shortenUnseen(runtime)
  steps.push(...done)
  const isEnough = done.length > 0 && coversGap(runtime, failure, before - runtime.gauge.size().tokens)
  return isEnough ? remedyFor(runtime) : undefined
}

/** Requires a quarter more than the gap, because our count may be off. */
function coversGap({ gauge }: Runtime, { overflow }: ModelFailure, freed: number): boolean {
  const { actual, limit } = overflow ?? {}
  if (actual === undefined || limit === undefined) return false
  return freed >= (actual - limit) * 1.25 && !gauge.explanation().isAboveThreshold
}

async function compactAll({ runtime, signal, steps }: Attempt): Promise<Remedy | undefined> {
  // Clearing may have been enough even without a compaction. If the provider named no numbers, only another request can tell, and
  // a refused request costs nothing.
  const isSmaller = steps.some(({ outcome }) => outcome === 'done')
  const why = await whyNoCompaction(runtime, signal)
  if (why !== undefined) {
    steps.push({ mechanism: 'compact', outcome: 'declined', why })
    return isSmaller ? remedyFor(runtime) : undefined
  }
  runtime.tracker.changeBreaker(afterRecovery)
  const outcome = await compactNow(runtime, { cause: 'overflow', signal })
  steps.push(...outcome.tried)
  if (outcome.type === 'compacted') return { ...remedyFor(runtime), compaction: outcome }
  return isSmaller && outcome.reason !== 'aborted' ? remedyFor(runtime) : undefined
}

function remedyFor(runtime: Runtime): Remedy {
  return { request: buildRequest(runtime, runtime.conversation.view()).request }
}

async function whyNoCompaction(runtime: Runtime, signal: AbortSignalPort | undefined): Promise<string | undefined> {
  const explanation = runtime.gauge.explanation()
  const { autoCompact } = explanation
  if (autoCompact.mode === false) return `Auto-compact is off: ${autoCompact.source}.`
  // With the breaker open, one attempt is made, because the conversation would be stuck otherwise.
  const { breaker, isRefused } = runtime.tracker.now()
  if (breaker.isOpen && breaker.hasRecovered) return 'Automatic compaction has stopped for this conversation.'
  if (autoCompact.mode !== 'ask') return undefined
  if (!isRefused && (await isAllowed(runtime, explanation, signal))) return undefined
  return notAllowed
}

/**
 * An empty answer because of a full window counts as an overflow. An answer with content is kept, and the next request is made
 * smaller before it is sent.
 */
export function failureIfEmpty(runtime: Runtime, result: ModelAnswer | ModelFailure): ModelAnswer | ModelFailure {
  const { gauge, usage } = runtime
  if (result.type === 'failed') return result
  if (result.content.some((block) => isToolUse(block) || (isText(block) && block.text.trim() !== ''))) return result
  if (!overflowOfAnswer(result, gauge.explanation().contextWindow.value)) return result
  usage.add({ source: 'turn', usage: billedCounts(result.usage), model: gauge.model().name })
  if (result.stopReason === windowExceeded) gauge.learnFromFullWindow(contextTokens(result.usage))
  const message = 'The context window was full before the answer said anything.'
  return { type: 'failed', reason: 'overflow', message, tries: 1 }
}
