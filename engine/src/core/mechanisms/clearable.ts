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
} from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import type { AnsweredCall } from '../tokens/file-reads.ts'
import { pathOf, type ToolCallLike, type ToolKind, toolKind } from '../tokens/tool-kinds.ts'
import { clearedResult } from '../transcript/edited.ts'
import type { View } from '../transcript/fold.ts'
import type { Source } from '../transcript/merge.ts'
import { clearedText } from '../transcript/messages.ts'
import type { PlannedItem, Situation } from './mechanism.ts'
import type { ReductionSettings } from './settings.ts'
import type { Weigher } from './weigher.ts'

export type ClearableKind = ToolKind | 'reproducible'

/** A result that may go; the reason is added by whoever takes it. */
export type Clearable = Omit<PlannedItem, 'why'> & { readonly toolUseId: string; readonly kind: ClearableKind }

/** What one image or document counts for in the rules, whatever its size. */
const mediaTokens = 2_000

type ToolRules = Pick<ReductionSettings, 'reproducible' | 'toolKinds'>

/**
 * The host's word comes first. A tool of an MCP server may be called anything: its name says nothing about what it
 * does, so without the host's word it stays.
 */
export function clearableKind(
  call: ToolCallLike,
  { reproducible, toolKinds }: ToolRules,
  kindOf: (call: ToolCallLike) => ToolKind | undefined = toolKind,
): ClearableKind | undefined {
  if (Object.hasOwn(toolKinds, call.name)) return toolKinds[call.name] ?? undefined
  if (reproducible.includes(call.name)) return kindOf(call) ?? 'reproducible'
  return call.name.includes('__') ? undefined : kindOf(call)
}

export function isCleared({ content }: ToolResultBlock): boolean {
  return typeof content === 'string' && content.startsWith(clearedText)
}

/** In order of arrival: those on the list that are not cleared yet. */
export function clearableResults(
  view: View,
  { settings, weigher }: Situation,
  calls = answeredCalls(view, weigher),
): readonly Clearable[] {
  const kindOf = (call: ToolCallLike) => weigher.once(toolKind, call)
  const pins = new Set(view.pins)
  const found = new Map<string, Clearable | undefined>()
  for (const answered of calls) {
    const { call, result, message, uuid } = answered
    const id = result.tool_use_id
    const before = found.get(id)
    const kind = clearableKind(call, settings, kindOf)
    const isPinned = pins.size > 0 && [uuid, answered.callUuid].some((given) => pins.has(given ?? ''))
    // One copy that must stay keeps them all: an edit names the call, not the copy.
    const mustStay = before === undefined && found.has(id)
    if (!kind || isPinned || !answered.isClearable || isCleared(result)) found.set(id, undefined)
    else if (!mustStay) {
      found.set(id, {
        type: 'result',
        toolUseId: id,
        tool: call.name,
        kind,
        ...pathIn(weigher.once(pathOfCall, call)),
        uuids: [...(before?.uuids ?? none), ...(uuid === undefined ? none : [uuid])],
        message: before?.message ?? message,
        tokens: (before?.tokens ?? 0) + ruleTokens(result, weigher),
        frees: (before?.frees ?? 0) + freedBy(result, { weigher, recall: settings.recall }),
      })
    }
  }
  return [...found.values()].filter((item) => item !== undefined)
}

const none: readonly string[] = []

const pathOfCall = ({ input }: ToolCallLike): string | undefined => pathOf(input)

function pathIn(path: string | undefined): { readonly path?: string } {
  return path === undefined ? {} : { path }
}

/** A call and its result, with the entries that they stand in. */
export type CallInView = AnsweredCall & {
  readonly message: number
  readonly callUuid: string | undefined
  readonly uuid: string | undefined
  /** Whether an edit can reach it. */
  readonly isClearable: boolean
}

/** Every result whose call stands before it, in the order of the view. */
export function answeredCalls({ sources }: View, weigher: Weigher): readonly CallInView[] {
  const calls = new Map<string, { readonly call: ToolUseBlock; readonly uuid: string | undefined }>()
  const found: CallInView[] = []
  for (const [message, source] of sources.entries()) {
    for (const { block, piece } of weigher.once(toolBlocks, source)) {
      if (isToolUse(block)) calls.set(block.id, { call: block, uuid: piece.uuid })
      else if (isToolResult(block)) {
        const use = calls.get(block.tool_use_id)
        if (!use) continue
        const isClearable = piece.origin === 'tool-result'
        found.push({ call: use.call, callUuid: use.uuid, uuid: piece.uuid, result: block, message, isClearable })
      }
    }
  }
  return found
}

function toolBlocks({ pieces }: Source): readonly { readonly block: Block; readonly piece: ViewMessage }[] {
  return pieces.flatMap((piece) =>
    typeof piece.content === 'string'
      ? []
      : blocksOf(piece.content)
          .filter((block) => isToolUse(block) || isToolResult(block))
          .map((block) => ({ block, piece })),
  )
}

/** The entries behind the messages, each with the index of its message. */
export function* piecesOf({ sources }: View): Generator<readonly [number, ViewMessage]> {
  for (const [index, { pieces }] of sources.entries()) for (const piece of pieces) yield [index, piece]
}

function ruleTokens(block: ToolResultBlock, weigher: Weigher): number {
  const parts = blocksOf(block.content)
  const media = parts.filter(isMedia)
  if (media.length === 0) return Math.round(weigher.block(block))
  const text = parts.filter((part: Block) => !isMedia(part)).reduce((sum, part) => sum + weigher.block(part), 0)
  return Math.round(text) + media.length * mediaTokens
}

function freedBy(
  block: ToolResultBlock,
  { weigher, recall }: { readonly weigher: Weigher; readonly recall: boolean },
): number {
  return weigher.block(block) - weigher.content(clearedResult(block.tool_use_id, recall))
}
