// Builds the request of a turn from the view: repaired, with what the server is asked to do, and with cache marks. The same
// view gives the same bytes.
import type { RequestOptions } from '../mechanisms/mechanism.ts'
import { pinnedCacheEdits } from '../mechanisms/micro.ts'
import { combinedEdits, isOfThinking } from '../mechanisms/server-edits.ts'
import { type Block, blocksOf, isToolUse } from '../message/block.ts'
import { arrayAt, defined, type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import type { ModelRequest } from '../ports/model.ts'
import { withCacheMarks } from '../request/cache-marks.ts'
import {
  continuesUnthought,
  onDemandBeta,
  providerSummaryIn,
  requestMessages,
  withThinkingFirst,
} from '../request/from-view.ts'
import type { Repair } from '../request/repair-pairs.ts'
import { wellFormed, wellFormedValue } from '../text/cut.ts'
import { neutralizeReminders } from '../text/neutralize.ts'
import { actionOf } from '../transcript/format/edits.ts'
import type { View } from '../transcript/view/fold.ts'
import type { RequestBase } from './input.ts'
import type { Runtime } from './runtime.ts'

export function buildRequest(
  runtime: Runtime,
  view: View,
): { readonly request: ModelRequest; readonly repairs: readonly Repair[] } {
  const { gauge, settings, tracker } = runtime
  const { client, name: model } = gauge.model()
  const base = wellFormedValue(gauge.base())
  const { system, tools } = base
  const limits = [base.maxTokens, gauge.maxOutput()].filter((limit) => limit !== undefined)
  const maxTokens = limits.length === 0 ? undefined : Math.min(...limits)
  const { messages: repaired, repairs } = requestMessages(view, { model })
  const isManual = base.thinking?.type === 'enabled'
  const mended = isManual ? withThinkingFirst(repaired) : repaired
  const { messages, isNative } = withProviderSummary(runtime, view, mended)
  // Manual thinking cannot start in the middle of an answer; it is back with the next question.
  const thinking = isManual && continuesUnthought(mended) ? undefined : base.thinking
  const { betas, options } = serverParts(runtime, messages, {
    base,
    isNative,
    isThinkingOff: thinking !== base.thinking,
  })
  const request: ModelRequest = {
    source: 'turn',
    model,
    ...defined({ system, tools }),
    messages: withCacheEdits(runtime, messages),
    ...defined({ maxTokens, thinking, betas: betas.length === 0 ? undefined : betas, options }),
  }
  const lifetime = settings.cacheMarks
  const isMarked = lifetime !== false && client.capabilities(model).promptCache
  if (!isMarked) return { request, repairs }
  // A provider that edits its cache in place keeps the prefix.
  const ends = tracker.serverOptions()?.leftOut ? (tracker.now().cacheEdits.ends ?? []) : []
  const anchors = anchorsIn(runtime, view, { messages: mended, ends }).map((at) => at + (isNative ? 1 : 0))
  // Most pauses longer than five minutes are shorter than an hour, and the head never changes.
  const head = settings.economy === 'thrifty' ? '1h' : lifetime
  return { request: withCacheMarks(request, { lifetime, head, anchors }), repairs }
}

/** Where the newest two changes ended: a compaction, our edits, or what the provider was asked to leave out. */
function anchorsIn(
  { conversation }: Runtime,
  view: View,
  { messages, ends }: { readonly messages: readonly Message[]; readonly ends: readonly string[] },
): readonly number[] {
  // Results and inputs that were cleared together are one change.
  const changedBy = (uuids: readonly string[]) => {
    const last = uuids.at(-1)
    // An id that nobody has would make the conversation read the whole transcript.
    const record = last === undefined ? undefined : conversation.record(last)
    return record ? actionOf(record) : last
  }
  const isMended = messages.length !== view.messages.length
  const newest = isMended ? -1 : view.sources.findLastIndex(({ edits }) => edits.length > 0)
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

/** A summary that the provider wrote is sent as its own block, first and unchanged, in place of its text. */
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
  const blocks = blocksOf(first?.content)
  const text = stringAt(objectAt(record, 'message'), 'content')
  // As the view shows it: see `messageOf`.
  const shown = text === undefined ? undefined : wellFormed(neutralizeReminders(text))
  const at = blocks.findIndex((block) => block.text === shown)
  if (!summary || !first || at < 0 || wellFormedValue(summary.block) !== summary.block)
    return { messages, isNative: false }
  const content = blocks.with(at, { type: 'text', text: wellFormed(neutralizeReminders(summary.beside)) })
  const block: Message = { role: 'assistant', content: [summary.block] }
  return { messages: [block, { role: first.role, content }, ...rest], isNative: true }
}

type ServerChoices = {
  readonly base: RequestBase
  readonly isNative: boolean
  /** The request does without the thinking that was set. */
  readonly isThinkingOff: boolean
}

/** What the server is asked to do with the context. */
function serverParts(
  { tracker }: Runtime,
  messages: readonly Message[],
  { base, isNative, isThinkingOff }: ServerChoices,
): { readonly betas: readonly string[]; readonly options: JsonObject | undefined } {
  const planned = tracker.serverOptions()
  const asked = planned?.leftOut ? stillLeftOut(planned, tracker.now().cacheEdits.deleted, messages) : planned
  const added = tracker.addedOptions()
  const own = combinedEdits(asked?.contextManagement?.edits, added?.contextManagement?.edits)
  const all = [...(base.betas ?? []), ...(asked?.betas ?? []), ...(added?.betas ?? [])]
  const betas = [...new Set([...all, ...(isNative ? [onDemandBeta] : [])])]
  if (own.length === 0) return { betas, options: base.options }
  const management = objectAt(base.options, 'context_management')
  const edits = combinedEdits(own, arrayAt(management, 'edits')).filter(
    // The API refuses both kinds of compaction in one request, and to clear thinking where there is none.
    (edit) => !(isNative && stringAt(edit, 'type') === 'compact_20260112') && !(isThinkingOff && isOfThinking(edit)),
  )
  return { betas, options: { ...base.options, context_management: { ...management, edits } } }
}

/**
 * The server is told how many of the newest results to keep. Counts from the newest result that is left out, so that those
 * results stay out and nothing else is removed.
 */
function stillLeftOut(
  asked: RequestOptions,
  deleted: readonly string[],
  messages: readonly Message[],
): RequestOptions | undefined {
  const gone = new Set(deleted)
  const uses = messages.flatMap(({ content }) => blocksOf(content).filter(isToolUse))
  const keep = uses.length - 1 - uses.findLastIndex(({ id }) => gone.has(id))
  if (keep === uses.length) return undefined
  const counted = { trigger: { type: 'tool_uses', value: Math.max(1, keep) }, keep: { type: 'tool_uses', value: keep } }
  const edits =
    asked.contextManagement?.edits.map((edit) => (isOfThinking(edit) ? edit : { ...edit, ...counted })) ?? []
  return { ...asked, contextManagement: { edits } }
}

/** Cache edits are relative to the cached prefix and go with every request, at its end. */
function withCacheEdits({ tracker }: Runtime, messages: readonly Message[]): readonly Message[] {
  const { cacheEdits } = tracker.now()
  if (cacheEdits.deleted.length === 0 || tracker.serverOptions()?.leftOut) return messages
  const inView = new Set(messages.flatMap(({ content }) => blocksOf(content).map(({ tool_use_id }) => tool_use_id)))
  const edits = pinnedCacheEdits(cacheEdits).filter(({ cache_reference }) => inView.has(cache_reference))
  const last = messages.at(-1)
  if (edits.length === 0 || last?.role !== 'user') return messages
  const block: Block = { type: 'cache_edits', edits }
  return [...messages.slice(0, -1), { role: last.role, content: [...blocksOf(last.content), block] }]
}
