// The request of a turn from the view: mended whatever was cut out of it, with what mechanisms delegated to the server
// and the marks of the cache. The same view gives the same bytes.

import { onDemandBeta } from '../compaction/ask/request.ts'
import { servedIn } from '../compaction/served.ts'
import type { RequestOptions } from '../mechanisms/mechanism.ts'
import { pinnedCacheEdits } from '../mechanisms/micro/by-cache-edit.ts'
import { type Block, blocksOf, isToolUse } from '../message/block.ts'
import { isObject, type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import type { ModelRequest } from '../ports/model.ts'
import { withCacheMarks } from '../request/cache-marks.ts'
import type { Repair } from '../request/draft.ts'
import { continuesUnthought, withThinkingFirst } from '../request/manual-thinking.ts'
import { withLegalCalls } from '../request/tool-ids.ts'
import { neutralizeReminders } from '../text/neutralize.ts'
import { wellFormed, wellFormedValue } from '../text/well-formed.ts'
import { actionOf } from '../transcript/format/edits.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Desk } from './desk.ts'

export type BuiltRequest = { readonly request: ModelRequest; readonly repairs: readonly Repair[] }

export function buildRequest(desk: Desk, view: View): BuiltRequest {
  const { modelName: model, settings } = desk
  const base = wellFormedValue(desk.base)
  const { messages: repaired, repairs } = desk.requester(view, { model })
  const isManual = base.thinking?.type === 'enabled'
  const mended = isManual ? withThinkingFirst(repaired) : repaired
  const { messages, isServed } = withServed(mended, view, desk)
  // Manual thinking cannot begin in the middle of an answer; it is back with the next question.
  const thinking = isManual && continuesUnthought(mended) ? undefined : base.thinking
  const { delegated, tracking } = desk
  const { betas, options } = delegatedParts({ base, delegated, tracking }, { messages, isServed })
  const request: ModelRequest = {
    source: 'turn',
    model,
    ...(base.system === undefined ? {} : { system: base.system }),
    ...(base.tools === undefined ? {} : { tools: base.tools }),
    messages: withCacheEdits(messages, desk),
    ...(base.maxTokens === undefined ? {} : { maxTokens: base.maxTokens }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(betas.length === 0 ? {} : { betas }),
    ...(options === undefined ? {} : { options }),
  }
  const lifetime = settings.cacheMarks ?? '5m'
  const isMarked = lifetime !== false && desk.model.capabilities(model).promptCache
  if (!isMarked) return { request, repairs }
  // Where the provider edits its cache in place, the prefix goes on.
  const ends = desk.delegated?.leftOut ? (desk.tracking.cacheEdits.ends ?? []) : []
  const anchors = anchorsIn(desk, view, { messages: mended, ends }).map((at) => at + (isServed ? 1 : 0))
  // Most pauses that outlive five minutes do not outlive an hour, and this part never changes.
  const head = settings.economy === 'thrifty' ? '1h' : lifetime
  return { request: withCacheMarks(request, { lifetime, head, anchors }), repairs }
}

/** Where the newest two changes ended: a compaction, edits of ours, or what the provider was asked to leave out. */
function anchorsIn(
  { conversation }: Desk,
  view: View,
  { messages, ends }: { readonly messages: readonly Message[]; readonly ends: readonly string[] },
): readonly number[] {
  // Results and inputs that were cleared together are one change.
  const changedBy = (uuids: readonly string[]) => {
    const record = conversation.record(uuids.at(-1) ?? '')
    return record ? actionOf(record) : uuids.at(-1)
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

/** The request as the Messages API takes it, for clients that are not ours. */
export function messagesBody(request: ModelRequest, maxTokens: number): JsonObject {
  const { model, system, tools, messages, thinking, options } = request
  return {
    ...options,
    model,
    max_tokens: request.maxTokens ?? maxTokens,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    messages: withLegalCalls(messages),
    ...(thinking === undefined ? {} : { thinking }),
  }
}

/** The summary as its provider wrote it, first and unchanged, and what code adds to it, where the text of it stood. */
function withServed(
  messages: readonly Message[],
  view: View,
  { conversation, model, modelName }: Desk,
): { readonly messages: readonly Message[]; readonly isServed: boolean } {
  const uuid = view.sources[0]?.pieces[0]?.uuid
  const record = uuid === undefined ? undefined : conversation.record(uuid)
  const served = servedIn(record, model, modelName)
  const [first, ...rest] = messages
  const blocks = blocksOf(first?.content)
  const text = stringAt(objectAt(record, 'message'), 'content')
  // As it stands in the view: see `messageOf`.
  const shown = text === undefined ? undefined : wellFormed(neutralizeReminders(text))
  const at = blocks.findIndex((block) => block.text === shown)
  if (!served || !first || at < 0 || wellFormedValue(served.block) !== served.block)
    return { messages, isServed: false }
  const content = blocks.with(at, { type: 'text', text: wellFormed(neutralizeReminders(served.beside)) })
  const block: Message = { role: 'assistant', content: [served.block] }
  return { messages: [block, { role: first.role, content }, ...rest], isServed: true }
}

function delegatedParts(
  { base, delegated: planned, tracking }: Pick<Desk, 'base' | 'delegated' | 'tracking'>,
  { messages, isServed }: { readonly messages: readonly Message[]; readonly isServed: boolean },
): { readonly betas: readonly string[]; readonly options: JsonObject | undefined } {
  const delegated = planned?.leftOut ? stillLeftOut(planned, tracking.cacheEdits.deleted, messages) : planned
  const own = base.betas ?? []
  const betas = [...new Set([...own, ...(delegated?.betas ?? []), ...(isServed ? [onDemandBeta] : [])])]
  if (!delegated?.contextManagement) return { betas, options: base.options }
  const asked = base.options?.context_management
  const edits = isObject(asked) && Array.isArray(asked.edits) ? asked.edits : []
  // The API refuses both kinds of compaction in one request.
  const all = [...delegated.contextManagement.edits, ...edits].filter(
    ({ type }) => !isServed || type !== 'compact_20260112',
  )
  return { betas, options: { ...base.options, context_management: { ...(isObject(asked) ? asked : {}), edits: all } } }
}

/**
 * The server is told how many of the newest to keep. Counted from the newest that it leaves out, that number grows with
 * the conversation: what has gone stays away, and nothing more goes.
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
  const edits = asked.contextManagement?.edits.map((edit) => ({ ...edit, ...counted })) ?? []
  return { ...asked, contextManagement: { edits } }
}

/** Deletions are relative to the cached prefix and go with every request, at its end. */
function withCacheEdits(messages: readonly Message[], desk: Desk): readonly Message[] {
  const { cacheEdits } = desk.tracking
  if (cacheEdits.deleted.length === 0 || desk.delegated?.leftOut) return messages
  const inView = new Set(messages.flatMap(({ content }) => blocksOf(content).map(({ tool_use_id }) => tool_use_id)))
  const edits = pinnedCacheEdits(cacheEdits).filter(({ cache_reference }) => inView.has(cache_reference))
  const last = messages.at(-1)
  if (edits.length === 0 || last?.role !== 'user') return messages
  const block: Block = { type: 'cache_edits', edits }
  return [...messages.slice(0, -1), { role: last.role, content: [...blocksOf(last.content), block] }]
}
