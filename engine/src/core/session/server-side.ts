// What the server does with the context of a session: what its requests ask the server to omit or to delete from its cache, and
// what the answers report. Nothing here runs unless a mechanism or the host asks for it.
import { pinnedCacheEdits } from '../mechanisms/micro.ts'
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import { type Block, blocksOf, isToolUse, type Message } from '../message/message.ts'
import type { RequestOptions } from '../ports/outcome.ts'
import { onDemandBeta } from '../request/repair.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { AnswerMessage, RequestBase } from './input.ts'
import type { Runtime } from './runtime.ts'

type ServerChoices = {
  readonly base: RequestBase
  readonly isNative: boolean
  /** The request drops the thinking that was set. */
  readonly isThinkingOff: boolean
}

/** The parameters that ask the server to manage the context. */
export function serverParts(
  { tracker }: Runtime,
  messages: readonly Message[],
  { base, isNative, isThinkingOff }: ServerChoices,
): { readonly betas: readonly string[]; readonly options: JsonObject | undefined } {
  const planned = tracker.serverOptions()
  const asked = planned?.leftOut ? stillLeftOut(planned, tracker.now().cacheEdits.deleted, messages) : planned
  const added = tracker.addedOptions()
  const own = [asked, added].flatMap((part) => part?.contextManagement?.edits ?? []).filter(isObject)
  const all = [...(base.betas ?? []), ...(asked?.betas ?? []), ...(added?.betas ?? [])]
  const betas = [...new Set([...all, ...(isNative ? [onDemandBeta] : [])])]
  if (own.length === 0) return { betas, options: base.options }
  const management = objectAt(base.options, 'context_management')
  const edits = combinedEdits(own, arrayAt(management, 'edits')).filter(
    // The API refuses both kinds of compaction in one request, and clearing thinking without thinking.
    (edit) => !(isNative && stringAt(edit, 'type') === 'compact_20260112') && !(isThinkingOff && isOfThinking(edit)),
  )
  return { betas, options: { ...base.options, context_management: { ...management, edits } } }
}

/**
 * The server gets the number of newest results to keep. Counts from the newest omitted result, so that omitted results stay
 * omitted and no others are removed.
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
export function withCacheEdits({ tracker }: Runtime, messages: readonly Message[]): readonly Message[] {
  const { cacheEdits } = tracker.now()
  if (tracker.serverOptions()?.leftOut) return messages
  const inView = new Set(messages.flatMap(({ content }) => blocksOf(content).map(({ tool_use_id }) => tool_use_id)))
  const edits = pinnedCacheEdits(cacheEdits).filter(({ cache_reference }) => inView.has(cache_reference))
  const last = messages.at(-1)
  if (edits.length === 0 || last?.role !== 'user') return messages
  const block: Block = { type: 'cache_edits', edits }
  return [...messages.slice(0, -1), { role: last.role, content: [...blocksOf(last.content), block] }]
}

/** Keeps the first edit of each type, because the API accepts only one, and puts the edit of thinking first, as the API requires. */
export function combinedEdits(...lists: readonly (readonly unknown[] | undefined)[]): readonly JsonObject[] {
  const edits = lists.flatMap((list = []) => list).filter(isObject)
  const first = edits.filter(({ type }, at) => edits.findIndex((edit) => edit.type === type) === at)
  return first.toSorted((a, b) => Number(isOfThinking(b)) - Number(isOfThinking(a)))
}

function isOfThinking({ type }: JsonObject): boolean {
  return type === 'clear_thinking_20251015'
}

/** The server reports the whole history each time. The report is stored if it differs from the last one. */
export function noteCleared({ conversation }: Runtime, message: AnswerMessage): boolean {
  const applied = appliedEdits(message)
  if (applied.length === 0) return false
  const known = conversation.view().edits.findLast(({ edit }) => edit.type === 'server-cleared')?.edit
  if (JSON.stringify(applied[0]) === JSON.stringify(known)) return false
  conversation.edit(applied)
  return true
}

/**
 * Reads from `context_management.applied_edits` what the server omitted, as an edit for counting. Each answer reports the whole
 * history, so the newest such edit counts.
 */
export function appliedEdits(answer: unknown): readonly Edit[] {
  const applied = arrayAt(objectAt(answer, 'context_management'), 'applied_edits')
  const sum = (key: string) => applied.reduce<number>((total, edit) => total + (numberAt(edit, key) ?? 0), 0)
  const found = {
    toolUses: sum('cleared_tool_uses'),
    thinkingTurns: sum('cleared_thinking_turns'),
    tokens: sum('cleared_input_tokens'),
  }
  if (found.toolUses === 0 && found.thinkingTurns === 0 && found.tokens === 0) return []
  return [{ type: 'server-cleared', ...found, mechanism: 'native' }]
}
