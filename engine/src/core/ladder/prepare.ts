// What happens before each request: micro-compact, compact when over the threshold and allowed, stop at the blocking
// limit. The answer is a request that can be sent, or the reason why none is.
import { modelFacts } from '../catalog/models.ts'
import type { MechanismContext } from '../mechanisms/mechanism.ts'
import { blocksOf } from '../message/block.ts'
import { type JsonObject, objectAt } from '../message/json.ts'
import { pairHalfOf } from '../message/pairing.ts'
import type { Tried } from '../ports/events.ts'
import { describeValue } from '../ports/guarded.ts'
import type { AbortSignalPort, ModelRequest, QuerySource } from '../ports/model.ts'
import type { Repair } from '../request/draft.ts'
import {
  type Desk,
  describeModel,
  explainDesk,
  overheadOf,
  settleContext,
  situationIn,
  whyCompactionIsOff,
  withSize,
} from '../session/desk.ts'
import { patience } from '../session/settings.ts'
import { withLeftOut, withViewChange } from '../session/tracking.ts'
import { buildRequest, messagesBody } from '../session/turn-request.ts'
import type { Explanation } from '../tokens/explain.ts'
import { inWords } from '../tokens/figure.ts'
import { inARow } from './breaker.ts'
import { climb, type Solution } from './climb.ts'
import { type CompactionDone, compactNow, contextFor, withFreed } from './compaction.ts'
import { breakerInWords, type Guarded, guardAutoCompact } from './guards.ts'
import { mediaOverLimit } from './media.ts'
import { shortenUnseen } from './unseen.ts'

/** A request that can be sent: with our clients as it is, with others by its `body`. */
export type Ready = ModelRequest & {
  readonly type: 'ready'
  /** The parameters of the Messages API. */
  readonly body: JsonObject
  readonly explanation: Explanation
  /** What was tried before it, and why. */
  readonly tried: readonly Tried[]
  readonly compaction?: CompactionDone
  /** What a person should know, each said once. */
  readonly notices: readonly string[]
  readonly repairs: readonly Repair[]
}

export type Blocked = {
  readonly type: 'blocked'
  readonly why: 'blocking-limit' | 'nothing-to-send'
  readonly detail: string
  readonly explanation: Explanation
  readonly tried: readonly Tried[]
  readonly compaction?: CompactionDone
  readonly notices: readonly string[]
}

export type PrepareOptions = {
  readonly signal?: AbortSignalPort | undefined
  /** What the request is for: a turn, unless said. All others are made as the view is, and never compact. */
  readonly source?: QuerySource | undefined
}

export async function prepareTurn(
  desk: Desk,
  { signal, source = 'turn', isMicroOff = false }: PrepareOptions & { readonly isMicroOff?: boolean },
): Promise<Ready | Blocked> {
  await describeModel(desk, { client: desk.model, name: desk.modelName })
  settleContext(desk)
  const isOff = source !== 'turn' || whyCompactionIsOff(desk) !== undefined
  const media = isOff ? [] : keepMediaLimit(desk)
  const micro = isOff || isMicroOff ? [] : await microCompact(desk, signal)
  const { tried, notices, compaction } = await autoCompact(desk, { signal, source })
  const story = { tried: [...media, ...micro, ...tried], notices, ...(compaction ? { compaction } : {}) }
  const view = desk.conversation.view()
  const { explanation } = situationIn(desk, view)
  tellCrossing(desk, explanation)
  if (view.messages.length === 0) {
    const detail = 'There is no message to send yet.'
    return { type: 'blocked', why: 'nothing-to-send', detail, explanation, ...story }
  }
  if (explanation.isBlocking) {
    return { type: 'blocked', why: 'blocking-limit', detail: blockedInWords(desk, explanation), explanation, ...story }
  }
  const { request, repairs } = buildRequest(desk, view)
  if (source === 'turn' && endsInAnswer(desk, request)) {
    const detail = `The last message is the assistant's, and ${request.model} does not continue it: add a message first.`
    return { type: 'blocked', why: 'nothing-to-send', detail, explanation, ...story }
  }
  const body = messagesBody(request, explanation.reserve.value)
  return { type: 'ready', ...request, source, body, explanation, ...story, repairs }
}

/** An answer is continued only where it was paused, or by a model that takes the beginning of its answer. */
function endsInAnswer({ conversation }: Desk, { model, messages }: ModelRequest): boolean {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || modelFacts(model)?.takesPrefill !== false) return false
  const block = blocksOf(last.content).at(-1)
  if (block?.type === 'compaction' || (block && pairHalfOf(block)?.tool === 'server')) return false
  const uuid = conversation.view().messages.at(-1)?.uuid
  const record = uuid === undefined ? undefined : conversation.record(uuid)
  return objectAt(record, 'message')?.stop_reason !== 'pause_turn'
}

function blockedInWords({ settings }: Desk, { size, blocking }: Explanation): string {
  const why = settings.mode === 'collapse' ? 'Collapse is on, and no finished part could make enough room. ' : ''
  return (
    `The context holds ${inWords(size.tokens)} tokens, and from ${inWords(blocking.value)} on no request is sent. ` +
    why +
    'Compact by hand, remove something large, or use a model with a larger window.'
  )
}

/** A request with more images than the API takes would be refused, and so would every one after it. */
function keepMediaLimit(desk: Desk): readonly Tried[] {
  const edits = mediaOverLimit(desk.conversation.view(), desk.weigher, desk.modelName)
  if (edits.length === 0) return []
  desk.conversation.edit(withSize(desk, edits))
  desk.tracking = withViewChange(desk.tracking)
  const why = 'There were more images and documents than a request may hold: the oldest left the context.'
  const done = { mechanism: 'strip-media', outcome: 'done', why } as const
  desk.emit({ type: 'mechanism-tried', ...done })
  return [done]
}

/** Small reductions that need no model. The first that has something to do does it. */
async function microCompact(desk: Desk, signal?: AbortSignalPort): Promise<readonly Tried[]> {
  const stage = 'every-request'
  const context = contextFor(desk, { stage, trigger: 'auto', cause: 'threshold', signal }, noCommit)
  const last = desk.delegated
  // What the server leaves out from now on stays left out; everything else is asked of it anew.
  if (!last?.leftOut) desk.delegated = undefined
  const { solution, tried } = await climb(desk.ladder[stage], context, () => undefined)
  if (!solution) return tried
  // One request cannot ask for both, and what the server leaves out already must not come back.
  if (solution.type === 'delegated' && last?.leftOut && !solution.request.leftOut) return tried
  const before = context.size.tokens
  applyMicro(desk, solution)
  // Asked of the server anew with each request: told when it is something else than before.
  if (solution.type === 'delegated' && JSON.stringify(last) === JSON.stringify(solution.request)) return tried
  // Asked for in good time: the server does it once the context is larger.
  if (solution.type === 'delegated' && solution.results === 0) return tried
  const after = situationIn(desk, desk.conversation.view()).explanation.size.tokens
  const results = solution.type === 'compacted' ? 0 : solution.results
  const mechanism = tried.at(-1)?.mechanism ?? stage
  desk.emit({ type: 'micro-compacted', mechanism, results, tokensBefore: before, tokensAfter: after })
  return tried
}

/** A compaction needs the threshold, or a person. */
export const noCommit: Pick<MechanismContext, 'commit'> = {
  commit: async () => ({ type: 'failed', message: 'No compaction was asked for.' }),
}

function applyMicro(desk: Desk, solution: Solution): void {
  if (solution.type === 'delegated') {
    desk.delegated = solution.request
    const { request, freed } = solution
    const deleted = request.leftOut ?? request.cacheEdits?.map(({ cache_reference }) => cache_reference)
    const isRewritten = request.cacheEdits === undefined
    if (deleted) desk.tracking = withLeftOut(desk.tracking, deleted, { isRewritten, freed })
    return
  }
  if (solution.type === 'reduced') desk.conversation.edit(withSize(desk, withFreed(solution.edits, solution.freed)))
  desk.tracking = withViewChange(desk.tracking)
}

type AutoCompacted = {
  readonly tried: readonly Tried[]
  readonly notices: readonly string[]
  readonly compaction?: CompactionDone
}

async function autoCompact(
  desk: Desk,
  { signal, source }: { readonly signal: AbortSignalPort | undefined; readonly source: QuerySource },
): Promise<AutoCompacted> {
  const { explanation } = situationIn(desk, desk.conversation.view())
  const { size, autoCompactThreshold: threshold, effectiveWindow } = explanation
  desk.emit({
    type: 'threshold-checked',
    tokens: size.tokens,
    threshold: threshold.value,
    effectiveWindow: effectiveWindow.value,
    freedBySnips: desk.tracking.freedBySnips,
    source,
  })
  const { settings, tracking } = desk
  const mode = settings.mode ?? 'proactive'
  const overhead = explanation.isAboveThreshold ? overheadOf(desk) : 0
  const guarded = guardAutoCompact({ source, explanation, mode, tracking, overhead })
  if (guarded.type === 'refused') return refusal(desk, guarded, explanation)
  if (guarded.asks && !(await hasAllowed(desk, explanation, signal))) {
    desk.tracking = { ...desk.tracking, isRefused: true }
    return { tried: [{ mechanism: 'ask', outcome: 'declined', why: 'The host did not allow it.' }], notices: [] }
  }
  const shortened = shortenUnseen(desk)
  if (shortened.length > 0 && !explainDesk(desk).isAboveThreshold) return { tried: shortened, notices: [] }
  const outcome = await compactNow(desk, { stage: 'over-threshold', trigger: 'auto', cause: 'threshold', signal })
  const tried = [...shortened, ...outcome.tried]
  const { breaker } = desk.tracking
  const told = breaker.isOpen && !tracking.breaker.isOpen ? [breakerInWords] : []
  if (outcome.type === 'not-compacted') return { tried, notices: told }
  if (told.length > 0) desk.emit({ type: 'breaker-tripped', failures: inARow(breaker) })
  return { tried, notices: [...outcome.notices, ...told], compaction: outcome }
}

type Refused = Extract<Guarded, { readonly type: 'refused' }>

function refusal(desk: Desk, { why, detail }: Refused, { isBlocking, manualCompact }: Explanation): AutoCompacted {
  // Otherwise no request would go out any more.
  const shortened = isBlocking && manualCompact.allowed && why !== 'query-source' ? shortenUnseen(desk) : []
  if (why === 'below-threshold' || why === 'auto-compact-off') return { tried: shortened, notices: [] }
  const tried: readonly Tried[] = [{ mechanism: 'guard', outcome: 'declined', why: `${why}: ${detail}` }, ...shortened]
  if (why !== 'overhead' || desk.tracking.isOverheadSaid) return { tried, notices: [] }
  desk.tracking = { ...desk.tracking, isOverheadSaid: true }
  return { tried, notices: [detail] }
}

/** The host is asked; no answer in time means no. */
export async function hasAllowed(
  desk: Desk,
  { size, autoCompactThreshold }: Explanation,
  signal: AbortSignalPort | undefined,
): Promise<boolean> {
  const { ask, guard, settings } = desk
  if (!ask) return false
  const question = { tokens: size.tokens, threshold: autoCompactThreshold.value }
  const asked = await guard.call<unknown>('ask', () => ask(question), { timeoutMs: patience(settings), signal })
  if (asked.type !== 'returned') return false
  const { value } = asked
  if (value !== undefined && typeof value !== 'boolean') guard.report('ask', `returned ${describeValue(value)}`)
  return value === true
}

/** Told when it gets worse, once for each state. */
function tellCrossing(desk: Desk, explanation: Explanation): void {
  const { state, size } = explanation
  const before = desk.tracking.state
  if (state === before) return
  desk.tracking = { ...desk.tracking, state }
  if (severity.indexOf(state) < severity.indexOf(before)) return
  desk.emit({ type: 'threshold-crossed', state, tokens: size.tokens, threshold: crossed(explanation) })
}

const severity: readonly Explanation['state'][] = ['ok', 'warning', 'error', 'over-threshold', 'blocking']

function crossed({ state, warning, error, autoCompactThreshold, blocking }: Explanation): number {
  if (state === 'blocking') return blocking.value
  if (state === 'over-threshold') return autoCompactThreshold.value
  return state === 'error' ? error.value : warning.value
}
