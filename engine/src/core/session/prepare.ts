// The steps before each request: reduce, compact if over the threshold and allowed, stop at the blocking limit. Returns a request
// that can be sent, or the reason why there is none.

import { cacheLifetimes } from '../cache/economics.ts'
import { modelFacts } from '../catalog/models.ts'
import { coldPrices } from '../mechanisms/clock.ts'
import type { Mechanism, Situation } from '../mechanisms/mechanism.ts'
import { defined, objectAt } from '../message/json.ts'
import { blocksOf, pairHalfOf } from '../message/message.ts'
import type { AbortSignalPort, ModelRequest, QuerySource } from '../ports/model.ts'
import {
  type Compacted,
  type Declined,
  type Failed,
  failed,
  type RequestOptions,
  type Success,
  type Tried,
} from '../ports/outcome.ts'
import { type MessagesBody, messagesBody } from '../request/legal-request.ts'
import type { Repair } from '../request/repair-pairs.ts'
import { compactionOff } from '../settings/resolve.ts'
import { doInSlices } from '../text/slices.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import { compactNow, type GuardReason, isAllowed, type Occasion, paysToCompact, whyNotCompact } from './compact.ts'
import { changesIn, contextFor, tryMechanisms } from './mechanisms.ts'
import { shortenUnseen, stripMedia } from './oversized.ts'
import { type Runtime, reduceView } from './runtime.ts'
import { sayNotCompacted } from './scheduled.ts'
import { combinedEdits } from './server-side.ts'
import { breakerText } from './tracking.ts'
import { buildRequest, headLifetime } from './turn.ts'

type Prepared = {
  readonly explanation: Explanation
  /** The attempts to make the context smaller, with their reasons. */
  readonly tried: readonly Tried[]
  readonly compaction?: Compacted
  /** Messages for the person. Each is shown once. */
  readonly notices: readonly string[]
}

/** A request that can be sent: as it is with our clients, through its `body` with any other. */
export type Ready = ModelRequest &
  Prepared & {
    readonly type: 'ready'
    /** The parameters of the Messages API, in types that fit its SDK. */
    readonly body: MessagesBody
    readonly repairs: readonly Repair[]
  }

export type Blocked = Prepared & {
  readonly type: 'blocked'
  readonly reason: 'blocking-limit' | 'nothing-to-send' | 'aborted'
  readonly why: string
}

export type PrepareOptions = {
  readonly signal?: AbortSignalPort | undefined
  /** The purpose of the request. Default: a turn. Any other uses the view unchanged and never compacts. */
  readonly source?: QuerySource | undefined
}

export async function prepareTurn(
  runtime: Runtime,
  { signal, source = 'turn', isMicroOff = false }: PrepareOptions & { readonly isMicroOff?: boolean },
): Promise<Ready | Blocked> {
  const { conversation, gauge } = runtime
  const stopped = { type: 'blocked', reason: 'aborted', why: 'It was stopped.' } as const
  if (signal?.aborted) return { ...stopped, explanation: gauge.explanation(), tried: [], notices: [] }
  await gauge.describe()
  const { pause } = runtime.ports
  if (pause) await doInSlices(gauge.weighing(), pause)
  gauge.settle()
  const isOff = source !== 'turn' || compactionOff(runtime) !== undefined
  const media = isOff ? [] : keepMediaLimit(runtime)
  // A compaction that pays needs the results that would have been cleared.
  const { scheduled } = runtime.tracker.now()
  const pays = !isOff && (scheduled !== undefined || paysNow(runtime))
  const micro = isOff || isMicroOff || pays ? [] : await reduceNow(runtime, signal)
  await pause?.()
  const { tried, notices, compaction } = await autoCompact(runtime, { source, pays }, signal)
  await pause?.()
  const view = conversation.view()
  const situation = gauge.situation(view)
  const { explanation } = situation
  const done = { explanation, tried: [...media, ...micro, ...tried], notices, ...defined({ compaction }) }
  reportCrossing(runtime, explanation)
  if (signal?.aborted) return { ...stopped, ...done }
  const nothingToSend = (why: string): Blocked => ({ type: 'blocked', reason: 'nothing-to-send', why, ...done })
  if (view.messages.length === 0) return nothingToSend('There is no message to send yet.')
  if (explanation.isBlocking) {
    return { type: 'blocked', reason: 'blocking-limit', why: blockedBecause(runtime, explanation), ...done }
  }
  if (source === 'turn') reportCold(runtime, view, situation)
  const { request, repairs } = buildRequest(runtime, view)
  // All text may be white space.
  if (request.messages.length === 0) return nothingToSend('There is nothing to send yet: all messages are empty.')
  if (source === 'turn' && endsInAnswer(runtime, request)) {
    const { model } = request
    return nothingToSend(`The last message is the assistant's, and ${model} does not continue it: add a message first.`)
  }
  if (source === 'turn') void gauge.askForCount(request, runtime.closing.signal)
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

/** The API would refuse this request and every later one because of too many images. */
function keepMediaLimit(runtime: Runtime): readonly Tried[] {
  if (!stripMedia(runtime)) return []
  const why = 'There were more images and documents than a request may hold: the oldest left the context.'
  const done = { mechanism: 'strip-media', outcome: 'done', why } as const
  runtime.ports.emit({ type: 'mechanism-tried', ...done })
  return [done]
}

async function autoCompact(
  runtime: Runtime,
  occasion: Occasion,
  signal: AbortSignalPort | undefined,
): Promise<Omit<Prepared, 'explanation'>> {
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
    source: occasion.source,
  })
  const scheduled = occasion.source === 'turn' ? tracker.now().scheduled : undefined
  const endSchedule = (why?: string) => {
    if (scheduled) tracker.set({ scheduled: undefined })
    if (scheduled && why !== undefined) sayNotCompacted(runtime, why)
  }
  const refusal = whyNotCompact(runtime, explanation, occasion)
  if (refusal) {
    endSchedule(refusal.why)
    return afterRefusal(runtime, refusal, explanation)
  }
  if (explanation.autoCompact.mode === 'ask' && !(await isAllowed(runtime, explanation, signal))) {
    const why = 'The host did not allow it.'
    endSchedule(why)
    return { tried: [{ mechanism: 'ask', outcome: 'declined', reason: 'refused', why }], notices: [] }
  }
  const { pays } = occasion
  const shortened = shortenUnseen(runtime)
  if (!pays && shortened.length > 0 && !gauge.explanation().isAboveThreshold) return { tried: shortened, notices: [] }
  const { instructions } = scheduled ?? {}
  const cause = scheduled ? 'agent' : pays ? 'economy' : 'threshold'
  const result = await compactNow(runtime, { cause, instructions, signal })
  endSchedule(result.type === 'failed' ? result.why : undefined)
  const tried = [...shortened, ...result.tried]
  if (result.type === 'compacted') return { tried, notices: result.notices, compaction: result }
  const hasTripped = tracker.now().breaker.isOpen && !breaker.isOpen
  return { tried, notices: hasTripped ? [breakerText] : [] }
}

/**
 * Whether to compact before the threshold. Not if the host has set a threshold, after a failure or an undone
 * compaction, if a person has to allow it, or if something else keeps the context small.
 */
function paysNow({ conversation, gauge, settings, tracker }: Runtime): boolean {
  const { economy, autoCompactAt } = settings
  if (economy === 'claude-code' || autoCompactAt !== undefined || tracker.now().breaker.failures > 0) return false
  const view = conversation.view()
  const situation = gauge.situation(view)
  const { compactionComes, explanation } = situation
  if (explanation.autoCompact.heldBackFrom !== undefined) return false
  return compactionComes && !explanation.isAboveThreshold && paysToCompact(view, situation, economy)
}

function afterRefusal(
  runtime: Runtime,
  { reason, why }: Declined<GuardReason>,
  { isBlocking, manualCompact }: Explanation,
): Omit<Prepared, 'explanation'> {
  const { tracker } = runtime
  // Otherwise no further request could be sent.
  const shortened = isBlocking && manualCompact.allowed && reason !== 'query-source' ? shortenUnseen(runtime) : []
  if (reason === 'not-due') return { tried: shortened, notices: [] }
  const tried: readonly Tried[] = [{ mechanism: 'guard', outcome: 'declined', reason, why }, ...shortened]
  if (reason !== 'overhead' || tracker.now().isOverheadReported) return { tried, notices: [] }
  tracker.set({ isOverheadReported: true })
  return { tried, notices: [why] }
}

/** Once after each pause, if the session uses the cache, so that a host can show the price before it sends the request. */
function reportCold({ ports, settings, tracker, gauge }: Runtime, view: View, situation: Situation): void {
  const { cache, explanation } = situation
  const { lastAnswer = 0, lifetime } = cache
  const { usage } = view.messages.findLast((message) => message.usage !== undefined) ?? {}
  const isCached = usage !== undefined && usage.cacheRead + usage.cacheWrite > 0
  if (cache.type !== 'cold' || !isCached || tracker.now().coldAfter === lastAnswer) return
  tracker.set({ coldAfter: lastAnswer })
  const idle = situation.now - lastAnswer
  const expiredMs = idle - lifetime
  const isHeadWarm = headLifetime(settings, '5m') === '1h' && idle < cacheLifetimes.long
  const head = isHeadWarm ? gauge.overhead() : 0
  const prices = coldPrices(situation, { summaryModel: settings.summary.model, head })
  ports.emit({ type: 'cache-cold', tokens: explanation.size.tokens, expiredMs, ...prices })
}

/** Reports each state once, and only if it is worse than the last one. */
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

export async function reduceNow(runtime: Runtime, signal?: AbortSignalPort): Promise<readonly Tried[]> {
  const { gauge, mechanisms, ports, tracker } = runtime
  const context = contextFor(runtime, { cause: 'threshold', signal })
  const before = tracker.serverOptions()
  // Results that the server omits must stay omitted. Everything else is requested again each time.
  if (!before?.leftOut) tracker.askServer(undefined)
  let isNew = false
  const apply = (found: Success): Success | Failed => {
    const problem = whyNotReduce(runtime, found)
    if (problem) return problem
    if (found.type === 'reduced') reduceView(runtime, found)
    // One request cannot contain both, and results that the server omits must stay omitted.
    else if (found.type === 'compacted' || (before?.leftOut && !found.request.leftOut)) return found
    else tracker.delegate(found.request, found.freed)
    // Repeating a request that the server already has, or one that omits nothing yet, is no change.
    isNew =
      found.type === 'reduced' || (changesIn(found) > 0 && JSON.stringify(before) !== JSON.stringify(found.request))
    return found
  }
  const local = mechanisms.reduce.filter((mechanism) => !isAdditive(mechanism))
  const ended = await tryMechanisms(local, { context, apply })
  const added = await addToServer(runtime, signal)
  const tried = [...ended.tried, ...added.tried]
  if (!isNew && added.results === 0) return tried
  const { mechanism = '' } = (isNew ? ended.tried : added.tried).at(-1) ?? {}
  const results = isNew && (ended.type === 'reduced' || ended.type === 'delegated') ? changesIn(ended) : added.results
  const sizes = { tokensBefore: context.size, tokensAfter: gauge.size().tokens }
  ports.emit({ type: 'micro-compacted', mechanism, results, ...sizes })
  return tried
}

function isAdditive(mechanism: Mechanism): boolean {
  return 'isAdditive' in mechanism && mechanism.isAdditive === true
}

/** `results`: how many more results the server is asked to omit. */
async function addToServer(
  runtime: Runtime,
  signal?: AbortSignalPort,
): Promise<{ readonly tried: readonly Tried[]; readonly results: number }> {
  const { mechanisms, tracker } = runtime
  const additive = mechanisms.reduce.filter(isAdditive)
  const before = tracker.addedOptions()
  if (additive.length === 0 && before === undefined) return { tried: [], results: 0 }
  const tried: Tried[] = []
  const asked: RequestOptions[] = []
  let results = 0
  for (const mechanism of additive) {
    const context = contextFor(runtime, { cause: 'threshold', signal })
    const ended = await tryMechanisms([mechanism], { context, apply: (found) => found })
    tried.push(...ended.tried)
    if (ended.type !== 'delegated') continue
    asked.push(ended.request)
    results += changesIn(ended)
  }
  const edits = combinedEdits(...asked.map(({ contextManagement }) => contextManagement?.edits))
  const betas = [...new Set(asked.flatMap((one) => one.betas ?? []))]
  const now = edits.length === 0 ? undefined : { contextManagement: { edits }, betas }
  tracker.addToServer(now)
  return { tried, results: JSON.stringify(before) === JSON.stringify(now) ? 0 : results }
}

/** Clearing results right before a compaction would remove them from its summary and break the cache that it could share. */
function whyNotReduce(runtime: Runtime, found: Success): Failed | undefined {
  if (found.type === 'compacted') return failed('no-progress', 'It summarizes, which only the list `compact` may do.')
  const { freed } = found
  const explanation = runtime.gauge.explanation()
  const { autoCompact, autoCompactThreshold, isAboveThreshold, size } = explanation
  const isEnough = size.tokens - freed < autoCompactThreshold.value
  if (!isAboveThreshold || isEnough || autoCompact.mode !== true) return undefined
  if (whyNotCompact(runtime, explanation, { source: 'turn', pays: false })) return undefined
  const why = `It frees ${formatNumber(freed)} tokens, which is not enough: the compaction that follows reads the results.`
  return failed('no-progress', why)
}
