// Which tool results may be cleared, and what each weighs. Only what can be had again: never what is unknown, never what
// a person was asked, never what is pinned or cleared already.
import {
  type Block,
  blocksOf,
  isMedia,
  isToolResult,
  isToolUse,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../../message/block.ts'
import type { ViewMessage } from '../../message/message.ts'
import type { AnsweredCall } from '../../tokens/file-reads.ts'
import { pathOf, type ToolCallLike, type ToolKind, toolKind } from '../../tokens/tool-kinds.ts'
import { clearedText } from '../../transcript/format/messages.ts'
import { clearedResult, withoutInput } from '../../transcript/view/edited.ts'
import type { View } from '../../transcript/view/fold.ts'
import type { PlannedItem, Situation } from '../mechanism.ts'
import type { ReductionSettings } from '../settings.ts'
import type { Weigher } from '../weigher.ts'

/** What one image or document counts for in the rules, whatever its size. */
const mediaTokens = 2_000

export type ClearableKind = ToolKind | 'reproducible'

/** A result that may go; the reason is added by whoever takes it. */
export type Clearable = Omit<PlannedItem, 'why' | 'path'> & {
  readonly toolUseId: string
  readonly tool: string
  readonly kind: ClearableKind
  readonly path: string | undefined
}

export type ToolRules = Pick<ReductionSettings, 'reproducible' | 'toolKinds'>

/**
 * The host's word comes first. A tool of an MCP server may be called anything: its name says nothing about what it
 * does, so without the host's word it stays.
 */
export function clearableKind(
  call: ToolCallLike,
  { reproducible, toolKinds }: ToolRules,
  kind: ToolKind | undefined = toolKind(call),
): ClearableKind | undefined {
  if (Object.hasOwn(toolKinds, call.name)) return toolKinds[call.name] ?? undefined
  if (reproducible.includes(call.name)) return kind ?? 'reproducible'
  return call.name.includes('__') ? undefined : kind
}

/** Tools that are given what they write. */
export function isWriting(kind: ClearableKind | undefined): boolean {
  return kind === 'write' || kind === 'edit'
}

/** In order of arrival: those on the list that are not cleared yet. Found once for a view and its settings. */
export function clearableResults(view: View, { settings, weigher }: Situation): readonly Clearable[] {
  const known = weigher.once(resultsBySettings, view)
  const results = known.get(settings) ?? findClearable(view, { rules: settings, pins: new Set(view.pins), weigher })
  known.set(settings, results)
  return results
}

function resultsBySettings(_view: View): Map<ReductionSettings, readonly Clearable[]> {
  return new Map()
}

/** Those of them that the provider has not been asked to leave out: the others weigh nothing any more. */
export function activeResults(view: View, situation: Situation): readonly Clearable[] {
  const results = clearableResults(view, situation)
  const gone = deletedIn(situation)
  return gone.size === 0 ? results : results.filter(({ toolUseId }) => !gone.has(toolUseId))
}

/**
 * How many of the newest results stay where so many are to be kept. Where those of turns that have ended are not
 * (`keepFinished`), no more than the turn at hand has brought; what no answer has seen yet stays in any case.
 */
export function newestStaying(
  view: View,
  { keepFinished }: Pick<ReductionSettings, 'keepFinished'>,
  { results, keep }: { readonly results: readonly Clearable[]; readonly keep: number },
): number {
  const seen = seenUpTo(view)
  const asked = keepFinished ? -1 : view.messages.findLastIndex(({ origin }) => origin === 'human')
  let staying = 0
  for (let at = results.length - 1; at >= 0; at--) {
    const message = results[at]?.message ?? 0
    if (message < seen && (staying >= keep || message < asked)) break
    staying++
  }
  return staying
}

/** The newest answer: it has seen the messages before it, and none of those behind. */
export function seenUpTo({ messages }: View): number {
  return messages.findLastIndex(({ role }) => role === 'assistant')
}

export function deletedIn({ cacheEdits }: Pick<Situation, 'cacheEdits'>): ReadonlySet<string> {
  return new Set(cacheEdits?.deleted)
}

/** A call and its result. */
export type CallInView = AnsweredCall & {
  /** Index of the message with the result. */
  readonly message: number
  /** Of the entries they came from. */
  readonly callUuid: string | undefined
  readonly resultUuid: string | undefined
  /** Whether an edit can reach the result. */
  readonly isResultEntry: boolean
}

/** Every result whose call stands before it, in the order of the view. */
export function answeredCalls(view: View): readonly CallInView[] {
  const uses = new Map<string, { readonly call: ToolUseBlock; readonly uuid: string | undefined }>()
  const calls: CallInView[] = []
  for (const [message, { pieces }] of view.sources.entries()) {
    for (const { uuid, content, origin } of pieces) {
      for (const block of typeof content === 'string' ? [] : content) {
        if (isToolUse(block)) uses.set(block.id, { call: block, uuid })
        if (!isToolResult(block)) continue
        const use = uses.get(block.tool_use_id)
        const isResultEntry = origin === 'tool-result'
        if (use)
          calls.push({ call: use.call, result: block, message, callUuid: use.uuid, resultUuid: uuid, isResultEntry })
      }
    }
  }
  return calls
}

export function isCleared({ content }: ToolResultBlock): boolean {
  return typeof content === 'string' && content.startsWith(clearedText)
}

type Judging = {
  readonly rules: ToolRules & Pick<ReductionSettings, 'recall' | 'clearInputs'>
  readonly pins: ReadonlySet<string>
  readonly weigher: Weigher
}

function findClearable(view: View, judging: Judging): readonly Clearable[] {
  const found = new Map<string, Clearable | undefined>()
  for (const call of judging.weigher.once(answeredCalls, view)) {
    const id = call.result.tool_use_id
    const before = found.get(id)
    if (before === undefined && !found.has(id)) found.set(id, judged(call, judging))
    // One copy that must stay keeps them all: an edit names the call, not the copy.
    else found.set(id, before && withCopy(before, judged(call, judging)))
  }
  return [...found.values()].filter((item) => item !== undefined)
}

/** Undefined when it has to stay. */
function judged(found: CallInView, { rules, pins, weigher }: Judging): Clearable | undefined {
  const { call, result, callUuid, resultUuid, isResultEntry, message } = found
  const isPinned = pins.size > 0 && (pins.has(resultUuid ?? '') || pins.has(callUuid ?? ''))
  const kind = isPinned || !isResultEntry || isCleared(result) ? undefined : clearableKind(call, rules)
  if (!kind) return undefined
  const weight = weigher.block(result)
  const stub = weigher.content(clearedResult(rules.recall ? result.tool_use_id : '', rules.recall))
  const input = rules.clearInputs && isWriting(kind) ? weigher.block(call) - weigher.block(withoutInput(call)) : 0
  return {
    type: 'result',
    toolUseId: result.tool_use_id,
    tool: call.name,
    kind,
    path: pathOf(call.input),
    uuids: resultUuid === undefined ? [] : [resultUuid],
    message,
    tokens: ruleTokens(result, weight, weigher),
    frees: input + weight - stub,
  }
}

function withCopy(before: Clearable, copy: Clearable | undefined): Clearable | undefined {
  if (!copy) return undefined
  const { uuids, tokens, frees } = before
  return { ...before, uuids: [...uuids, ...copy.uuids], tokens: tokens + copy.tokens, frees: frees + copy.frees }
}

/** The weight, with each image or document counted at the same figure. */
function ruleTokens({ content }: ToolResultBlock, weight: number, weigher: Weigher): number {
  const parts = typeof content === 'string' ? [] : blocksOf(content)
  const media = parts.filter(isMedia)
  if (media.length === 0) return Math.round(weight)
  const text = parts.filter((part: Block) => !isMedia(part)).reduce((sum, part) => sum + weigher.block(part), 0)
  return Math.round(text) + media.length * mediaTokens
}

/** As an item of a plan. Written out, since a plan has thousands: leaving one key out of a copy takes much longer. */
export function itemOf(result: Clearable, why: string): PlannedItem {
  const { type, toolUseId, tool, path, uuids, message, tokens, frees } = result
  return path === undefined
    ? { type, toolUseId, tool, uuids, message, tokens, frees, why }
    : { type, toolUseId, tool, path, uuids, message, tokens, frees, why }
}

/** The entries behind the messages, each with the index of its message. */
export function* piecesOf({ sources }: View): Generator<readonly [number, ViewMessage]> {
  for (const [index, { pieces }] of sources.entries()) for (const piece of pieces) yield [index, piece]
}
