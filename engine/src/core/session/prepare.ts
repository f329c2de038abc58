// What happens before each request: micro-compact, compact when over the threshold and allowed, stop at the blocking
// limit. Returns a request that can be sent, or why there is none.
import { modelFacts } from '../catalog/models.ts'
import type { Mechanism, MechanismContext, RequestOptions } from '../mechanisms/mechanism.ts'
import { combinedEdits } from '../mechanisms/server-edits.ts'
import { blocksOf } from '../message/block.ts'
import { defined, objectAt } from '../message/json.ts'
import { pairHalfOf } from '../message/pairing.ts'
import type { Tried } from '../ports/events.ts'
import type { AbortSignalPort, ModelRequest, QuerySource } from '../ports/model.ts'
import { type MessagesBody, messagesBody } from '../request/messages-body.ts'
import type { Repair } from '../request/repair-pairs.ts'
import { compactionOff } from '../settings/resolve.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'
import { breakerText } from './breaker.ts'
import { type CompactionDone, compactNow, contextFor } from './compaction.ts'
import { paysToCompact } from './economy.ts'
import { climb, type Unapplied } from './ladder.ts'
import { shortenUnseen, stripMedia } from './oversized.ts'
import { type Runtime, reduceView } from './runtime.ts'
import { buildRequest } from './turn-request.ts'

type Prepared = {
  readonly explanation: Explanation
  /** What was tried to make the context smaller, and why. */
  readonly tried: readonly Tried[]
  readonly compaction?: CompactionDone
  /** What a person should know, each told once. */
  readonly notices: readonly string[]
}

/** A request that can be sent: as it is with our clients, by its `body` with any other. */
export type Ready = ModelRequest &
  Prepared & {
    readonly type: 'ready'
    /** The parameters of the Messages API, in types that fit its SDK. */
    readonly body: MessagesBody
    readonly repairs: readonly Repair[]
  }

export type Blocked = Prepared & {
  readonly type: 'blocked'
  readonly why: 'blocking-limit' | 'nothing-to-send' | 'aborted'
  readonly detail: string
}

export type PrepareOptions = {
  readonly signal?: AbortSignalPort | undefined
  /** What the request is for: a turn by default. Any other uses the view as it is and never compacts. */
  readonly source?: QuerySource | undefined
}

export async function prepareTurn(
  runtime: Runtime,
  { signal, source = 'turn', isMicroOff = false }: PrepareOptions & { readonly isMicroOff?: boolean },
): Promise<Ready | Blocked> {
  const { conversation, gauge } = runtime
  const stopped = { type: 'blocked', why: 'aborted', detail: 'It was stopped.' } as const
  if (signal?.aborted) return { ...stopped, explanation: gauge.explanation(), tried: [], notices: [] }
  await gauge.describe()
  gauge.settle()
  const isOff = source !== 'turn' || compactionOff(runtime) !== undefined
  const media = isOff ? [] : keepMediaLimit(runtime)
  // A compaction that pays sees what would have been cleared.
  const pays = !isOff && paysNow(runtime)
  const micro = isOff || isMicroOff || pays ? [] : await microCompact(runtime, signal)
  const { tried, notices, compaction } = await autoCompact(runtime, { source, pays }, signal)
  const view = conversation.view()
  const { explanation } = gauge.situation(view)
  const done = { explanation, tried: [...media, ...micro, ...tried], notices, ...defined({ compaction }) }
  reportCrossing(runtime, explanation)
  if (signal?.aborted) return { ...stopped, ...done }
  const nothingToSend = (detail: string): Blocked => ({ type: 'blocked', why: 'nothing-to-send', detail, ...done })
  if (view.messages.length === 0) return nothingToSend('There is no message to send yet.')
  if (explanation.isBlocking) {
    return { type: 'blocked', why: 'blocking-limit', detail: blockedBecause(runtime, explanation), ...done }
  }
  const { request, repairs } = buildRequest(runtime, view)
  // What was typed may be nothing but white space.
  if (request.messages.length === 0) return nothingToSend('There is nothing to send yet: all messages are empty.')
  if (source === 'turn' && endsInAnswer(runtime, request)) {
    const { model } = request
    return nothingToSend(`The last message is the assistant's, and ${model} does not continue it: add a message first.`)
  }
  const body = messagesBody(request, explanation.reserve.value)
  return { type: 'ready', ...request, source, body, ...done, repairs }
}

/** An answer is continued only if it was paused, or if the model accepts the beginning of its answer. */
function endsInAnswer({ conversation }: Runtime, { model, messages }: ModelRequest): boolean {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || modelFacts(model)?.takesPrefill !== false) return false
  const block = blocksOf(last.content).at(-1)
  if (block?.type === 'compaction' || (block && pairHalfOf(block)?.tool === 'server')) return false
  const { uuid = '' } = conversation.view().messages.at(-1) ?? {}
  return objectAt(conversation.record(uuid), 'message')?.stop_reason !== 'pause_turn'
}

function blockedBecause(runtime: Runtime, { size, blocking }: Explanation): string {
  const off = compactionOff(runtime)
  const isCollapsing = off === undefined && runtime.settings.collapse
  return [
    `The context holds ${formatNumber(size.tokens)} tokens, and from ${formatNumber(blocking.value)} on no request is sent.`,
    ...(isCollapsing ? ['Collapse is on, and no finished part could make enough room.'] : []),
    ...(off === undefined ? ['Compact by hand,'] : [off, 'Turn it on,']),
    'remove something large, or use a model with a larger window.',
  ].join(' ')
}

/** The API would refuse a request with too many images, and every later one. */
function keepMediaLimit(runtime: Runtime): readonly Tried[] {
  if (!stripMedia(runtime)) return []
  const why = 'There were more images and documents than a request may hold: the oldest left the context.'
  const done = { mechanism: 'strip-media', outcome: 'done', why } as const
  runtime.ports.emit({ type: 'mechanism-tried', ...done })
  return [done]
}

/** Small reductions that need no model. The first one that has something to do wins; additive ones go with it. */
async function microCompact(runtime: Runtime, signal?: AbortSignalPort): Promise<readonly Tried[]> {
  const { gauge, ladder, ports, tracker } = runtime
  const context = contextFor(runtime, { cause: 'threshold', signal })
  const last = tracker.serverOptions()
  // Results that the server leaves out must stay out; everything else is requested anew each time.
  if (!last?.leftOut) tracker.askServer(undefined)
  const all = ladder['every-request']
  const { solution, tried } = await climb(
    all.filter((mechanism) => !isAdditive(mechanism)),
    context,
    (found) => whyFutile(runtime, found),
  )
  // One request cannot ask for both, and what is left out must not come back.
  const isInTheWay = solution?.type === 'delegated' && last?.leftOut && !solution.request.leftOut
  const applied = isInTheWay ? undefined : solution
  if (applied?.type === 'delegated') tracker.delegate(applied.request, applied.freed)
  else if (applied?.type === 'reduced') reduceView(runtime, applied)
  else if (applied) tracker.viewChange()
  const added = await addToServer(runtime, all.filter(isAdditive), contextFor(runtime, { cause: 'threshold', signal }))
  // Nothing new was requested, or nothing happens before the context is larger.
  const isOld = applied?.type === 'delegated' && JSON.stringify(last) === JSON.stringify(applied.request)
  const results = applied === undefined || applied.type === 'compacted' ? 0 : applied.results
  const isDone = applied !== undefined && !isOld && (applied.type !== 'delegated' || results > 0)
  const steps = [...tried, ...added.tried]
  if (!isDone && added.results === 0) return steps
  const mechanism = (isDone ? tried : added.tried).at(-1)?.mechanism ?? 'every-request'
  const sizes = { tokensBefore: context.size.tokens, tokensAfter: gauge.size().tokens }
  ports.emit({ type: 'micro-compacted', mechanism, results: isDone ? results : added.results, ...sizes })
  return steps
}

function isAdditive(mechanism: Mechanism): boolean {
  return 'isAdditive' in mechanism && mechanism.isAdditive === true
}

/** Each of them is asked. `results`: how many the server is newly asked to leave out. */
async function addToServer(
  { tracker }: Runtime,
  mechanisms: readonly Mechanism[],
  context: MechanismContext,
): Promise<{ readonly tried: readonly Tried[]; readonly results: number }> {
  const before = tracker.addedOptions()
  const tried: Tried[] = []
  const asked: RequestOptions[] = []
  let results = 0
  for (const mechanism of mechanisms) {
    const { solution, tried: steps } = await climb([mechanism], context)
    tried.push(...steps)
    if (solution?.type !== 'delegated') continue
    asked.push(solution.request)
    results += solution.results
  }
  const edits = combinedEdits(...asked.map(({ contextManagement }) => contextManagement?.edits))
  const betas = [...new Set(asked.flatMap((one) => one.betas ?? []))]
  const now = edits.length === 0 ? undefined : { contextManagement: { edits }, betas }
  tracker.addToServer(now)
  return { tried, results: JSON.stringify(before) === JSON.stringify(now) ? 0 : results }
}

/** What is cleared right before a compaction is missing in its summary, and the cache it could have shared is broken. */
function whyFutile(runtime: Runtime, { freed }: Unapplied): string | undefined {
  const explanation = runtime.gauge.explanation()
  const { autoCompact, autoCompactThreshold, isAboveThreshold, size } = explanation
  const isEnough = size.tokens - freed < autoCompactThreshold.value
  if (!isAboveThreshold || isEnough || autoCompact.mode !== true) return undefined
  if (refusalOf(runtime, explanation, { source: 'turn', pays: false })) return undefined
  return `It frees ${formatNumber(freed)} tokens, which is not enough: the compaction that follows reads the results.`
}

type Refusal = {
  readonly why:
    | 'query-source' // the request of a compaction would wait for itself
    | 'not-due' // below the threshold, or turned off
    | 'reactive-only'
    | 'collapse-on'
    | 'breaker-open'
    | 'overhead' // system prompt and tools alone are over the threshold
    | 'refused' // ask mode: no, or no answer
  readonly detail: string
}

type GuardOptions = {
  readonly source: QuerySource
  /** It pays to compact before the threshold is reached. */
  readonly pays: boolean
}

/** Why automatic compaction may not run; undefined when it may. Asking a person is up to the caller. */
export function refusalOf(
  { gauge, settings, tracker }: Runtime,
  explanation: Explanation,
  { source, pays }: GuardOptions,
): Refusal | undefined {
  const { autoCompact, autoCompactThreshold: threshold, isAboveThreshold } = explanation
  const { breaker, isRefused } = tracker.now()
  const refuse = (why: Refusal['why'], detail: string): Refusal => ({ why, detail })
  if (source !== 'turn') return refuse('query-source', `A request of ${source} never compacts.`)
  if (autoCompact.mode === false || (!isAboveThreshold && !pays)) return refuse('not-due', '')
  if (settings.collapse) return refuse('collapse-on', 'Collapsing keeps the context small.')
  if (settings.compaction === 'reactive') {
    return refuse('reactive-only', 'Compaction waits until the provider refuses.')
  }
  const overhead = isAboveThreshold ? gauge.overhead() : 0
  if (overhead >= threshold.value) return refuse('overhead', overheadText(overhead, threshold.value))
  if (breaker.isOpen) return refuse('breaker-open', breakerText)
  if (autoCompact.mode === 'ask' && isRefused) return refuse('refused', 'It was asked for, and not allowed.')
  return undefined
}

function overheadText(overhead: number, threshold: number): string {
  return (
    `The system prompt, tools and memory files alone take ${formatNumber(overhead)} tokens, and the threshold is ` +
    `${formatNumber(threshold)}: compacting the conversation cannot help. Use fewer tools or a larger window.`
  )
}

type AutoCompacted = Omit<Prepared, 'explanation'>

async function autoCompact(
  runtime: Runtime,
  options: GuardOptions,
  signal: AbortSignalPort | undefined,
): Promise<AutoCompacted> {
  const { gauge, ports, tracker } = runtime
  const explanation = gauge.explanation()
  const { size, autoCompactThreshold: threshold, effectiveWindow } = explanation
  const { freedBySnips, breaker } = tracker.now()
  ports.emit({
    type: 'threshold-checked',
    tokens: size.tokens,
    threshold: threshold.value,
    effectiveWindow: effectiveWindow.value,
    freedBySnips,
    source: options.source,
  })
  const refusal = refusalOf(runtime, explanation, options)
  if (refusal) return afterRefusal(runtime, refusal, explanation)
  if (explanation.autoCompact.mode === 'ask' && !(await isAllowed(runtime, explanation, signal))) {
    return { tried: [{ mechanism: 'ask', outcome: 'declined', why: 'The host did not allow it.' }], notices: [] }
  }
  const { pays } = options
  const shortened = shortenUnseen(runtime)
  if (!pays && shortened.length > 0 && !gauge.explanation().isAboveThreshold) return { tried: shortened, notices: [] }
  const outcome = await compactNow(runtime, { cause: pays ? 'economy' : 'threshold', signal })
  const tried = [...shortened, ...outcome.tried]
  if (outcome.type === 'compacted') return { tried, notices: outcome.notices, compaction: outcome }
  const hasTripped = tracker.now().breaker.isOpen && !breaker.isOpen
  return { tried, notices: hasTripped ? [breakerText] : [] }
}

/**
 * Whether a thrifty session compacts before the threshold. Not if the host has set a threshold, after a failure, if a
 * person has to allow it, or if something else keeps the context small.
 */
function paysNow({ conversation, gauge, settings, tracker }: Runtime): boolean {
  const isEarly = settings.economy === 'thrifty' && settings.autoCompactAt === undefined
  if (!isEarly || tracker.now().breaker.failures > 0) return false
  const view = conversation.view()
  const situation = gauge.situation(view)
  const { compactionComes, explanation } = situation
  return compactionComes && !explanation.isAboveThreshold && paysToCompact(view, situation)
}

function afterRefusal(
  runtime: Runtime,
  { why, detail }: Refusal,
  { isBlocking, manualCompact }: Explanation,
): AutoCompacted {
  const { tracker } = runtime
  // Otherwise no request could be sent any more.
  const shortened = isBlocking && manualCompact.allowed && why !== 'query-source' ? shortenUnseen(runtime) : []
  if (why === 'not-due') return { tried: shortened, notices: [] }
  const tried: readonly Tried[] = [{ mechanism: 'guard', outcome: 'declined', why: `${why}: ${detail}` }, ...shortened]
  if (why !== 'overhead' || tracker.now().isOverheadReported) return { tried, notices: [] }
  tracker.set({ isOverheadReported: true })
  return { tried, notices: [detail] }
}

/** Asks the host; no answer in time means no. A no holds until the next human message. */
export async function isAllowed(
  { ask, guard, settings, tracker }: Runtime,
  { size, autoCompactThreshold }: Explanation,
  signal: AbortSignalPort | undefined,
): Promise<boolean> {
  const question = { tokens: size.tokens, threshold: autoCompactThreshold.value }
  const isValid = (value: unknown) => value === undefined || typeof value === 'boolean'
  const options = { isValid, timeoutMs: settings.askTimeoutMs, signal }
  const isYes = ask !== undefined && (await guard.read('ask', () => ask(question), options)) === true
  if (!isYes) tracker.set({ isRefused: true })
  return isYes
}

/** Reports each state once, and only when it got worse. */
function reportCrossing({ tracker, ports }: Runtime, explanation: Explanation): void {
  const { state, size, warning, error, autoCompactThreshold, blocking } = explanation
  const before = tracker.now().state
  if (state === before) return
  tracker.set({ state })
  // In order of severity.
  const limits = { ok: warning, warning, error, 'over-threshold': autoCompactThreshold, blocking }
  const states = Object.keys(limits)
  if (states.indexOf(state) < states.indexOf(before)) return
  ports.emit({ type: 'threshold-crossed', state, tokens: size.tokens, threshold: limits[state].value })
}
