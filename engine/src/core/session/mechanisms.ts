// Tries the mechanisms of a list (mechanisms/lists.ts) in order until one has a result that can be applied. Also builds the
// context for a mechanism that runs.
import { modelFacts } from '../catalog/models.ts'
import { unseenResults } from '../mechanisms/clearable.ts'
import type {
  CompactionCause,
  CompactRange,
  Mechanism,
  MechanismContext,
  RunningMechanism,
  Situation,
} from '../mechanisms/mechanism.ts'
import { defined, describeValue, errorText, isObject, type JsonObject } from '../message/json.ts'
import { blocksOf, isToolResult } from '../message/message.ts'
import { addCounts, noTokens, totalOf } from '../message/usage.ts'
import type { AbortSignalPort, ModelRequest } from '../ports/model.ts'
import {
  type Declined,
  type Delegated,
  type Effort,
  type Failed,
  failed,
  type Outcome,
  type Reduced,
  type Spent,
  type Success,
  stopped,
  type Tried,
} from '../ports/outcome.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import { lastingThreshold } from '../tokens/explain.ts'
import type { View } from '../transcript/view/fold.ts'
import type { ModelChoice } from './gauge.ts'
import { type Runtime, summarizer } from './runtime.ts'
import { buildRequest } from './turn.ts'

type SummarizingCode = typeof import('./summarize.ts')

/**
 * A mechanism that summarizes. Its code is loaded on its first run: bundlers put it into a separate file, which a conversation
 * that never compacts does not download. If loading is impossible, as without a network, the mechanism fails.
 */
export function loadedMechanism(
  name: string,
  run: (code: SummarizingCode, context: MechanismContext) => Promise<Outcome>,
): RunningMechanism {
  return {
    name,
    run: async (context) => {
      const code = await import('./summarize.ts').catch(errorText)
      if (typeof code !== 'string') return run(code, context)
      return failed('no-summary', `Its code could not be loaded: ${code}`)
    },
  }
}

export type CompactionOptions = {
  readonly cause: CompactionCause
  readonly instructions?: string | undefined
  readonly range?: CompactRange | undefined
  /** The model whose window the context must fit, if it is not the summarizing model. */
  readonly fits?: ModelChoice | undefined
  readonly signal?: AbortSignalPort | undefined
  /** Holds finished records until they may be written, or fails. */
  readonly gate?: Gate | undefined
}

/** Causes that apply before the threshold. */
const isEarly: ReadonlySet<CompactionCause> = new Set(['economy', 'agent', 'idle'])

export type Gate = (records: readonly JsonObject[]) => Promise<readonly JsonObject[] | Failed>

/** The context for a mechanism that runs. Three fields are computed on first use, because most mechanisms do not need them. */
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
    // A compaction before the threshold has to get below a share of the size.
    target: isEarly.has(cause)
      ? earlyTarget(view, situation, gauge.overhead())
      : targetWithRequest(view, situation, gauge.overhead(fits?.name)),
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

/**
 * Tokens for a whole handover in a window of 200,000 and the text around it. With less, each compaction would lose facts of the
 * previous one.
 */
const handoverRoom = 13_000

/** The size that a compaction before the threshold must get below: a share of the present size, with room for a summary. */
export function earlyTarget(view: View, situation: Situation, overhead: number): number {
  const { weigher, explanation, target } = situation
  const unseen = unseenResults(view)
  const weight = unseen === undefined ? 0 : weigher.from(view.messages, unseen - 1)
  const share = target / lastingThreshold(explanation)
  const minTarget = withMargin(overhead + weight + handoverRoom)
  return Math.min(target, Math.max(minTarget, Math.floor(explanation.size.tokens * share)))
}

/** The share of the new context that stays for the summary next to a large request. */
const summaryShare = 0.25
/** Tokens of the text around the request, and for rounding. */
const aroundRequest = 100

/**
 * A large request without an answer may take the new context above the target, up to the threshold, because nobody could answer
 * half of it.
 */
function targetWithRequest({ messages }: View, { weigher, explanation, target }: Situation, overhead: number): number {
  const last = messages.at(-1)
  if (last?.role !== 'user' || blocksOf(last.content).some(isToolResult)) return target
  const needed = (weigher.message(last) + aroundRequest) / (1 - summaryShare)
  return Math.max(target, Math.min(lastingThreshold(explanation), Math.ceil(overhead + withMargin(needed))))
}

/** Tokens for the instruction to summarize. */
const instructionRoom = 3_000

/** Cache sharing sends the whole request again plus the instruction, which has to fit the window. */
function fitsOnceMore({ model, maxTokens = 0 }: ModelRequest, room: number): boolean {
  const output = modelFacts(model)?.endsAtWindow ? 0 : maxTokens
  return instructionRoom + output < room
}

/** The session's ports, with a model client whose requests are counted and that uses the session's window. */
function summarizerPorts(runtime: Runtime): CompactionPorts {
  const { gauge, ports } = runtime
  return {
    ...ports,
    model: summarizer(runtime),
    // The gauge learns a limit that the summarizer met, and emits the event with the session's id.
    emit: (event) => (event.type === 'limit-learned' ? gauge.learnLimit(event) : ports.emit(event)),
  }
}

export type TryOptions = {
  readonly context: MechanismContext
  /** Applies the result, or returns why it is not good enough. Then the next mechanism is tried. */
  readonly apply: (found: Success) => Success | Failed | Promise<Success | Failed>
}

/** Returns the outcome that ended the list, with everything that was tried and spent. */
export async function tryMechanisms(
  mechanisms: readonly Mechanism[],
  { context, apply }: TryOptions,
): Promise<Outcome & Effort> {
  const tried: Tried[] = []
  let spent: Spent = { usage: noTokens }
  let failure: Failed | undefined
  let refusal: Declined | undefined
  const note = (item: Tried) => {
    tried.push(item)
    context.ports.emit({ type: 'mechanism-tried', ...item })
  }
  for (const mechanism of mechanisms) {
    if (context.signal?.aborted) return { ...stopped, tried, ...spent }
    const { name } = mechanism
    const found = await runMechanism(mechanism, context)
    if ('usage' in found) spent = addSpent(spent, found)
    if ('tried' in found) tried.push(...(found.tried ?? []))
    const outcome = found.type === 'declined' || found.type === 'failed' ? found : await apply(found)
    if (outcome.type !== 'declined' && outcome.type !== 'failed') {
      note({ mechanism: name, outcome: 'done', why: describeSuccess(outcome) })
      return { ...outcome, tried, ...spent }
    }
    const { type, reason, why } = outcome
    note({ mechanism: name, outcome: type, reason, why })
    if (type === 'failed') failure = outcome
    else refusal = outcome
    // A veto of a person or a hook applies to the remaining mechanisms too.
    if (reason === 'aborted' || reason === 'vetoed') break
  }
  const last = failure ?? refusal ?? failed('nothing-to-compact', 'Not enough messages to compact.')
  return { ...last, tried, ...spent }
}

/** The mechanism may be host code, so an error or an invalid outcome counts as a failure. */
async function runMechanism(mechanism: Mechanism, context: MechanismContext): Promise<Outcome> {
  const { view, situation, ports } = context
  const { name } = mechanism
  let problem: string
  try {
    const outcome: unknown = 'plan' in mechanism ? mechanism.plan(view, situation) : await mechanism.run(context)
    if (isOutcome(outcome)) return outcome
    problem = `returned ${describeValue(outcome)}, which is no outcome`
  } catch (error) {
    problem = errorText(error)
  }
  ports.emit({ type: 'host-code-failed', code: 'mechanism', problem: `${name}: ${problem}` })
  return failed('no-summary', `It did not work: ${problem}.`)
}

function isOutcome(value: unknown): value is Outcome {
  if (!isObject(value)) return false
  const { type, edits, request, records, why } = value
  if (type === 'reduced') return Array.isArray(edits) && Number.isFinite(value.freed)
  if (type === 'delegated') return isObject(request) && Number.isFinite(value.freed)
  if (type === 'compacted') return Array.isArray(records)
  return (type === 'declined' || type === 'failed') && typeof why === 'string'
}

/** An unknown cost stays unknown. */
function addSpent(before: Spent, { usage, cost: more, attempts = 0, hitRate }: Partial<Spent>): Spent {
  if (!usage) return before
  const isFree = totalOf(before.usage) === 0
  const sum = before.cost === undefined || more === undefined ? undefined : before.cost + more
  const cost = isFree ? more : totalOf(usage) === 0 ? before.cost : sum
  return {
    usage: addCounts(before.usage, usage),
    attempts: (before.attempts ?? 0) + attempts,
    cost,
    hitRate: hitRate ?? before.hitRate,
  }
}

function describeSuccess(found: Success): string {
  if (found.type === 'compacted') return `summarized by ${found.mechanism}`
  if (found.type === 'reduced') return `cleared ${changesIn(found)}, freed ${found.freed} tokens`
  return `asked the server to leave out ${changesIn(found)}, about ${found.freed} tokens`
}

/** The number of results, attachments or ranges that change. */
export function changesIn(found: Reduced | Delegated): number {
  return found.items?.length ?? (found.type === 'reduced' ? found.edits.length : 0)
}
