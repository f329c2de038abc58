// Finds the tool results that may be cleared, and their weights. A result may be cleared only if it can be had again; unknown,
// pinned and cleared results stay.
import {
  blocksOf,
  isMedia,
  isToolResult,
  isToolUse,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../message/message.ts'
import type { PlannedItem } from '../ports/outcome.ts'
import type { ReductionSettings } from '../settings/resolve.ts'
import type { AnsweredCall } from '../tokens/file-reads.ts'
import { isFromServer, type ToolCall, type ToolKind, toolCall } from '../tools/call.ts'
import { isClearedText } from '../transcript/format/messages.ts'
import { clearedResult, withoutInput } from '../transcript/view/effects.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Weigher } from './measure.ts'
import type { Situation } from './mechanism.ts'

/** Tokens that the rules count for one image or document. */
const mediaTokens = 2_000

export type ClearableKind = ToolKind | 'reproducible'

export type Clearable = Omit<PlannedItem, 'why' | 'path'> & {
  readonly toolUseId: string
  readonly tool: string
  readonly kind: ClearableKind
  readonly path: string | undefined
}

/** The host's setting decides first. The name of an MCP tool proves nothing, so without a setting its results stay. */
export function clearableKind(
  { name, kind }: ToolCall,
  { reproducible, toolKinds }: Pick<ReductionSettings, 'reproducible' | 'toolKinds'>,
): ClearableKind | undefined {
  if (Object.hasOwn(toolKinds, name)) return toolKinds[name] ?? undefined
  if (reproducible.includes(name)) return kind ?? 'reproducible'
  return isFromServer(name) ? undefined : kind
}

/** True for tools whose input is the text that they write. */
export function isWriting(kind: ClearableKind | undefined): boolean {
  return kind === 'write' || kind === 'edit'
}

/** Oldest first. Computed once per view and settings. */
export function clearableResults(view: View, situation: Situation): readonly Clearable[] {
  const known = situation.weigher.once(resultsBySettings, view)
  const results = known.get(situation.settings) ?? findClearable(view, situation)
  known.set(situation.settings, results)
  return results
}

function resultsBySettings(_view: View): Map<ReductionSettings, readonly Clearable[]> {
  return new Map()
}

/** Excludes results that the provider already omits. */
export function activeResults(view: View, situation: Situation): readonly Clearable[] {
  const gone = deletedIn(situation)
  return clearableResults(view, situation).filter(({ toolUseId }) => !gone.has(toolUseId))
}

/**
 * How many of the newest results stay: only those of the current turn if `keepFinished` is off. Results that no answer has seen
 * always stay.
 */
export function newestStaying(
  view: View,
  { keepFinished }: Pick<ReductionSettings, 'keepFinished'>,
  { results, keep }: { readonly results: readonly Clearable[]; readonly keep: number },
): number {
  const seen = seenUpTo(view)
  const asked = keepFinished ? -1 : view.messages.findLastIndex(({ origin }) => origin === 'human')
  const isGoing = ({ message }: Clearable, at: number) =>
    message < seen && (results.length - 1 - at >= keep || message < asked)
  return results.length - 1 - results.findLastIndex(isGoing)
}

/** Index of the newest answer, which has seen all messages before it. */
export function seenUpTo({ messages }: View): number {
  return messages.findLastIndex(({ role }) => role === 'assistant')
}

/** Index of the message with the results after the newest answer. */
export function unseenResults(view: View): number | undefined {
  const at = seenUpTo(view) + 1
  return at > 0 && blocksOf(view.messages[at]?.content).some(isToolResult) ? at : undefined
}

export function deletedIn({ cacheEdits }: Pick<Situation, 'cacheEdits'>): ReadonlySet<string> {
  return new Set(cacheEdits?.deleted)
}

export type CallInView = AnsweredCall & {
  readonly use: ToolUseBlock
  readonly message: number
  readonly callUuid: string | undefined
  readonly resultUuid: string | undefined
  /** Whether an edit can reach the result. */
  readonly isResultEntry: boolean
}

type Use = Pick<CallInView, 'call' | 'use' | 'callUuid'>

/** All calls, and all results that follow their call. Read once for all plans. */
export function callsIn({ sources }: View): {
  readonly uses: readonly Use[]
  readonly answered: readonly CallInView[]
} {
  const uses: Use[] = []
  const byId = new Map<string, Use>()
  const answered: CallInView[] = []
  for (const [message, { pieces }] of sources.entries()) {
    for (const { uuid, content, origin } of pieces) {
      for (const block of typeof content === 'string' ? [] : content) {
        if (isToolUse(block)) {
          const use = { call: toolCall(block), use: block, callUuid: uuid }
          uses.push(use)
          byId.set(block.id, use)
        }
        const found = isToolResult(block) ? byId.get(block.tool_use_id) : undefined
        if (!found || !isToolResult(block)) continue
        const { call, use, callUuid } = found
        const isResultEntry = origin === 'tool-result'
        answered.push({ call, use, callUuid, result: block, message, resultUuid: uuid, isResultEntry })
      }
    }
  }
  return { uses, answered }
}

export function isCleared({ content }: ToolResultBlock): boolean {
  return typeof content === 'string' && isClearedText(content)
}

function findClearable(view: View, situation: Situation): readonly Clearable[] {
  const pins = new Set(view.pins)
  const found = new Map<string, Clearable | undefined>()
  for (const call of situation.weigher.once(callsIn, view).answered) {
    const id = call.result.tool_use_id
    const item = judged(call, situation, pins)
    // If one copy must stay, all copies stay, because an edit names the call and not the copy.
    found.set(id, found.has(id) ? withCopy(found.get(id), item) : item)
  }
  return [...found.values()].filter((item) => item !== undefined)
}

/** Undefined if the result must stay. */
function judged(
  { call, use, result, callUuid, resultUuid, isResultEntry, message }: CallInView,
  { settings, weigher }: Situation,
  pins: ReadonlySet<string>,
): Clearable | undefined {
  const isPinned = pins.size > 0 && (pins.has(resultUuid ?? '') || pins.has(callUuid ?? ''))
  const kind = isPinned || !isResultEntry || isCleared(result) ? undefined : clearableKind(call, settings)
  if (!kind) return undefined
  const { recall, clearInputs } = settings
  const weight = weigher.block(result)
  const left = weigher.content(clearedResult({ recall: recall ? result.tool_use_id : undefined }))
  const input = clearInputs && isWriting(kind) ? weigher.block(use) - weigher.block(withoutInput(use)) : 0
  return {
    type: 'result',
    toolUseId: result.tool_use_id,
    tool: call.name,
    kind,
    path: call.path,
    uuids: resultUuid === undefined ? [] : [resultUuid],
    message,
    tokens: ruleTokens(result, weight, weigher),
    frees: input + weight - left,
  }
}

function withCopy(before: Clearable | undefined, copy: Clearable | undefined): Clearable | undefined {
  if (!before || !copy) return undefined
  const { uuids, tokens, frees } = before
  return { ...before, uuids: [...uuids, ...copy.uuids], tokens: tokens + copy.tokens, frees: frees + copy.frees }
}

/** The weight for the rules, which count every image or document the same. */
function ruleTokens({ content }: ToolResultBlock, weight: number, weigher: Weigher): number {
  if (typeof content === 'string') return Math.round(weight)
  const parts = blocksOf(content)
  const texts = parts.filter((part) => !isMedia(part))
  if (texts.length === parts.length) return Math.round(weight)
  return Math.round(weigher.content(texts)) + (parts.length - texts.length) * mediaTokens
}

/** Spelled out, because a plan has thousands of items and copying without one key is much slower. */
export function itemOf({ type, toolUseId, tool, path, uuids, message, tokens, frees }: Clearable, why: string) {
  const item = { type, toolUseId, tool, uuids, message, tokens, frees, why }
  return path === undefined ? item : { ...item, path }
}

/** Clearing a short result, such as the line with the hash of a commit, saves almost nothing, and the agent often needs it later. */
const minFrees = 50

/** True if clearing the result makes the context noticeably smaller. */
export function isHelpful({ frees }: Pick<PlannedItem, 'frees'>): boolean {
  return frees >= minFrees
}
