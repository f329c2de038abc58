// One turn: builds its request from the view (repaired, with server options and cache marks; the same view gives the same bytes),
// and records the answer (its entry, what the server omitted, the cache outcome).
import { missedBecause, noCacheEdits, type RequestParts, watchAnswer, watchFrom } from '../cache/cache-watch.ts'
import { cacheStateOf, missCost } from '../cache/economics.ts'
import { modelFacts } from '../catalog/models.ts'
import { type MarkLifetime, markLifetime } from '../mechanisms/clock.ts'
import { defined, numberAt, objectAt, stringAt } from '../message/json.ts'
import { blocksOf, type Message } from '../message/message.ts'
import { billedCounts, type CacheOutcome, contextTokens, readUsage, type Usage } from '../message/usage.ts'
import type { ModelRequest } from '../ports/model.ts'
import { withCacheMarks } from '../request/cache-marks.ts'
import { continuesUnthought, providerSummaryIn, requestMessages, withThinkingFirst } from '../request/repair.ts'
import type { Repair } from '../request/repair-pairs.ts'
import type { Settings } from '../settings/table.ts'
import { wellFormed, wellFormedValue } from '../text/cut.ts'
import { neutralizeReminders } from '../text/neutralize.ts'
import { actionOf } from '../transcript/format/edits.ts'
import type { View } from '../transcript/view/fold.ts'
import { type AnswerMessage, type ApiAnswer, answerMessage } from './input.ts'
import type { Runtime } from './runtime.ts'
import { noteCleared, serverParts, withCacheEdits } from './server-side.ts'

export function buildRequest(
  runtime: Runtime,
  view: View,
): { readonly request: ModelRequest; readonly repairs: readonly Repair[] } {
  const { gauge, settings, tracker } = runtime
  const { client, name: model } = gauge.model()
  const base = wellFormedValue(gauge.base())
  const { system, tools } = base
  const maxTokens = gauge.outputLimit(view)
  const { messages: repaired, repairs } = requestMessages(view, { model })
  const isManual = base.thinking?.type === 'enabled'
  const complete = isManual ? withThinkingFirst(repaired) : repaired
  const { messages, isNative } = withProviderSummary(runtime, view, complete)
  // Manual thinking cannot start in the middle of an answer. It returns with the next question.
  const thinking = isManual && continuesUnthought(complete) ? undefined : base.thinking
  const isAsked = isNative || tracker.serverOptions() !== undefined || tracker.addedOptions() !== undefined
  const { betas, options } = isAsked
    ? serverParts(runtime, messages, { base, isNative, isThinkingOff: thinking !== base.thinking })
    : { betas: [...new Set(base.betas)], options: base.options }
  const request: ModelRequest = {
    source: 'turn',
    model,
    ...defined({ system, tools }),
    messages: tracker.now().cacheEdits.deleted.length === 0 ? messages : withCacheEdits(runtime, messages),
    ...defined({ maxTokens, thinking, betas: betas.length === 0 ? undefined : betas, options }),
  }
  if (settings.cacheMarks === false || !client.capabilities(model).promptCache) return { request, repairs }
  // A provider that edits its cache in place keeps the prefix.
  const ends = tracker.serverOptions()?.leftOut ? (tracker.now().cacheEdits.ends ?? []) : []
  const settled = anchorsIn(runtime, view, { messages: complete, ends })
  const lifetime = settings.cacheMarks === 'auto' ? chosenLifetime(runtime, view, settled) : settings.cacheMarks
  const anchors = settled.map((at) => at + (isNative ? 1 : 0))
  return { request: withCacheMarks(request, { lifetime, head: headLifetime(settings, lifetime), anchors }), repairs }
}

/**
 * Chooses how long the provider keeps the newer messages. Settled messages are kept for an hour anyway. `claude-code` makes no
 * such difference, so its choice applies to all messages.
 */
function chosenLifetime({ gauge, settings }: Runtime, view: View, settled: readonly number[]): MarkLifetime {
  const situation = gauge.situation(view)
  const { weigher, explanation } = situation
  const isAll = headLifetime(settings, '5m') === '5m'
  const tokens = isAll ? explanation.size.tokens : weigher.from(view.messages, (settled.at(-1) ?? -1) + 1)
  return markLifetime(situation, tokens)
}

/** Most pauses longer than five minutes are shorter than an hour, and the head never changes. */
export function headLifetime({ economy }: Pick<Settings, 'economy'>, lifetime: MarkLifetime): MarkLifetime {
  return economy === 'claude-code' ? lifetime : '1h'
}

/** The ends of the newest two changes: a compaction, our edits, or results that the provider was asked to omit. */
function anchorsIn(
  { conversation }: Runtime,
  view: View,
  { messages, ends }: { readonly messages: readonly Message[]; readonly ends: readonly string[] },
): readonly number[] {
  // Results and inputs that were cleared together are one change.
  const changedBy = (uuids: readonly string[]) => {
    const last = uuids.at(-1)
    // An unknown id would make the conversation read the whole transcript.
    const record = last === undefined ? undefined : conversation.record(last)
    return record ? actionOf(record) : last
  }
  const isRepaired = messages.length !== view.messages.length
  const newest = isRepaired ? -1 : view.sources.findLastIndex(({ edits }) => edits.length > 0)
  const by = changedBy(view.sources[newest]?.edits ?? [])
  const older = view.sources.findLastIndex(
    ({ edits }, at) => at < newest && edits.length > 0 && changedBy(edits) !== by,
  )
  const leftOut = ends.map((id) =>
    messages.findLastIndex(({ content }) => blocksOf(content).some(({ tool_use_id }) => tool_use_id === id)),
  )
  const summary = view.messages.findIndex(({ origin }) => origin === 'summary')
  const found = [...new Set([summary, newest, older, ...leftOut])].filter((at) => at >= 0)
  return found.toSorted((a, b) => a - b).slice(-2)
}

/** Sends a summary that the provider wrote as its own block, first and unchanged, instead of its text. */
function withProviderSummary(
  { conversation, gauge }: Runtime,
  view: View,
  messages: readonly Message[],
): { readonly messages: readonly Message[]; readonly isNative: boolean } {
  const { client, name } = gauge.model()
  const uuid = view.sources[0]?.pieces[0]?.uuid
  const record = uuid === undefined ? undefined : conversation.record(uuid)
  const summary = providerSummaryIn(record, client, name)
  const [first, ...rest] = messages
  if (!summary || !first || wellFormedValue(summary.block) !== summary.block) return { messages, isNative: false }
  const blocks = blocksOf(first.content)
  const text = stringAt(objectAt(record, 'message'), 'content')
  // The text in the form of the view: see `messageOf`.
  const shown = text === undefined ? undefined : wellFormed(neutralizeReminders(text))
  const at = blocks.findIndex((block) => block.text === shown)
  if (at < 0) return { messages, isNative: false }
  const content = blocks.with(at, { type: 'text', text: wellFormed(neutralizeReminders(summary.beside)) })
  const block: Message = { role: 'assistant', content: [summary.block] }
  return { messages: [block, { role: first.role, content }, ...rest], isNative: true }
}

export type RecordInput = {
  /** The uuid of its entry. */
  readonly uuid: string
  readonly answer: ApiAnswer
  /** The last two requests, to find what changed after a cache miss. */
  readonly sent: { readonly now?: RequestParts; readonly before?: RequestParts }
  /** The view that the answered request was made from. */
  readonly pending: View | undefined
}

/** The stop reason of an answer that filled the window. */
export const windowExceeded = 'model_context_window_exceeded'

/** Returns the message in its stored form. */
export function recordAnswer(runtime: Runtime, input: RecordInput): AnswerMessage {
  const { conversation, gauge, ports, tracker, usage: meter } = runtime
  const { uuid, pending } = input
  const given = answerMessage(input.answer, { id: ports.newId(), model: gauge.model().name })
  // Entries with the same message id are parts of one answer, so a duplicate id is replaced.
  const message = conversation.hasAnswer(given.id) ? { ...given, id: ports.newId() } : given
  const usage = readUsage(message.usage)
  // The view or the model has changed since the request, so the usage counts for the bill but not for the size.
  const isOtherModel = input.sent.now?.model !== gauge.model().name
  const isOutdated = pending !== undefined && (isOtherModel || !addedSince(pending, conversation.view()))
  if (usage && pending && !isOutdated) gauge.calibrate(usage, pending)
  const { usage: billed, ...rest } = message
  const outdated = { message: rest, everlong: { usage: billed } }
  conversation.append([{ type: 'assistant', ...(isOutdated ? outdated : { message }) }], [uuid])
  tracker.answer()
  const isCleared = message.context_management !== undefined && noteCleared(runtime, message)
  if (!usage) return message
  if (message.stop_reason === windowExceeded && !isOutdated) gauge.learnFromFullWindow(contextTokens(usage))
  const isRewritten = isCleared || usage.iterations?.some(({ type }) => type === 'compaction')
  const cache = watchCache(runtime, input, { usage, message, isRewritten: isRewritten === true })
  meter.add({ source: 'turn', usage: billedCounts(usage), model: gauge.model().name, cache })
  return message
}

type ReportedAnswer = {
  readonly usage: Usage
  readonly message: AnswerMessage
  /** The server reports that it cleared or summarized something in this request. */
  readonly isRewritten: boolean
}

/** Records whether the request hit the cache. A miss is reported with its reason and price. */
function watchCache(runtime: Runtime, { sent }: RecordInput, reported: ReportedAnswer): CacheOutcome {
  const { conversation, gauge, tracker, ports } = runtime
  const { usage, message, isRewritten } = reported
  const { client, name } = gauge.model()
  const { watch: known, cacheEdits, requestedAt } = tracker.now()
  // Computing the view for each answer would slow down importing a history.
  const before = () => conversation.view().messages.slice(0, -1)
  const own = known.baseline ? known : { ...watchFrom(before()), ...known }
  const last = isRewritten ? { ...own, isChanged: true } : own
  const deletedTokens = numberAt(message.usage, 'cache_deleted_input_tokens')
  const time = requestedAt ?? ports.now()
  const { cacheRead, cacheWrite } = usage
  const { watch, dropped, isHit } = watchAnswer(last, { cacheRead, cacheWrite, time, deletedTokens })
  // Cache edits refer to the lost prefix. Clearing on the server does not, because the server reads the whole history each time.
  const isStale = dropped > 0 && !last.isChanged && client.capabilities(name).cacheEdits
  const { asked: _, ...counted } = cacheEdits
  tracker.set({ watch, cacheEdits: isStale ? noCacheEdits : counted, requestedAt: undefined })
  if (isHit) return 'hit'
  const idle = time - (last.baseline?.time ?? time)
  const lifetime = last.baseline?.cached ? cacheStateOf({ messages: before(), now: time }).lifetime : 0
  const { reason, why } = missedBecause({ watch: last, ...sent, idle, lifetime, answer: message })
  const cost = missCost(dropped, { usage, price: modelFacts(name)?.price })
  ports.emit({ type: 'cache-missed', reason, why, tokens: dropped, ...defined({ cost }) })
  return reason
}

/** The entries added to a view. Undefined if earlier entries have changed. */
export function addedSince(before: View, now: View): readonly string[] | undefined {
  const uuidsOf = ({ sources }: View) => sources.flatMap(({ uuids }) => uuids)
  const editsOf = ({ sources }: View) => [...new Set(sources.flatMap(({ edits }) => edits))].join()
  const [old, all] = [uuidsOf(before), uuidsOf(now)]
  const isSame = old.every((uuid, at) => all[at] === uuid) && editsOf(before) === editsOf(now)
  return isSame ? all.slice(old.length) : undefined
}
