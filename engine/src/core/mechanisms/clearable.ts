// Which tool results may be cleared, and what each weighs. Only what can be had again: never what is unknown, never what
// a person was asked, never what is pinned or cleared already.
import { type Block, blocksOf, isMedia, isToolResult, isToolUse, type ToolResultBlock } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import { pathOf, type ToolCallLike, type ToolKind, toolKind } from '../tokens/tool-kinds.ts'
import { clearedResult } from '../transcript/edited.ts'
import type { View } from '../transcript/fold.ts'
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
export function clearableKind(call: ToolCallLike, { reproducible, toolKinds }: ToolRules): ClearableKind | undefined {
  if (Object.hasOwn(toolKinds, call.name)) return toolKinds[call.name] ?? undefined
  if (reproducible.includes(call.name)) return toolKind(call) ?? 'reproducible'
  return call.name.includes('__') ? undefined : toolKind(call)
}

export function isCleared({ content }: ToolResultBlock): boolean {
  return typeof content === 'string' && content.startsWith(clearedText)
}

/** In order of arrival: those on the list that are not cleared yet. */
export function clearableResults(view: View, { settings, weigher }: Situation): readonly Clearable[] {
  const pins = new Set(view.pins)
  const calls = new Map<string, { readonly call: ToolCallLike; readonly isPinned: boolean }>()
  const found = new Map<string, Clearable | undefined>()
  for (const [message, piece] of piecesOf(view)) {
    const isPinned = piece.uuid !== undefined && pins.has(piece.uuid)
    for (const block of typeof piece.content === 'string' ? [] : blocksOf(piece.content)) {
      if (isToolUse(block)) calls.set(block.id, { call: block, isPinned })
      if (!isToolResult(block)) continue
      const use = calls.get(block.tool_use_id)
      const kind = use && clearableKind(use.call, settings)
      if (!use || !kind || isPinned || use.isPinned || piece.origin !== 'tool-result' || isCleared(block)) {
        // One copy that must stay keeps them all: an edit names the call, not the copy.
        found.set(block.tool_use_id, undefined)
        continue
      }
      const before = found.get(block.tool_use_id)
      if (before === undefined && found.has(block.tool_use_id)) continue
      const path = pathOf(use.call.input)
      found.set(block.tool_use_id, {
        type: 'result',
        toolUseId: block.tool_use_id,
        tool: use.call.name,
        kind,
        ...(path === undefined ? {} : { path }),
        uuids: [...(before?.uuids ?? []), ...(piece.uuid === undefined ? [] : [piece.uuid])],
        message: before?.message ?? message,
        tokens: (before?.tokens ?? 0) + ruleTokens(block, weigher),
        frees: (before?.frees ?? 0) + freedBy(block, { weigher, recall: settings.recall }),
      })
    }
  }
  return [...found.values()].filter((item) => item !== undefined)
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
