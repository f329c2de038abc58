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
  kind: ToolKind | undefined = toolKind(call),
): ClearableKind | undefined {
  if (Object.hasOwn(toolKinds, call.name)) return toolKinds[call.name] ?? undefined
  if (reproducible.includes(call.name)) return kind ?? 'reproducible'
  return call.name.includes('__') ? undefined : kind
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
  const pins = new Set(view.pins)
  const found = new Map<string, Clearable | undefined>()
  for (const { use, got, message } of calls) {
    const id = got.result.tool_use_id
    const before = found.get(id)
    const kind = clearableKind(use.call, settings, use.kind)
    const isPinned = pins.size > 0 && (pins.has(got.uuid ?? '') || pins.has(use.uuid ?? ''))
    // One copy that must stay keeps them all: an edit names the call, not the copy.
    const mustStay = before === undefined && found.has(id)
    if (!kind || isPinned || !got.isClearable) found.set(id, undefined)
    else if (!mustStay) {
      const frees = got.weight - weigher.content(clearedResult(settings.recall ? id : '', settings.recall))
      const uuids = got.uuid === undefined ? none : [got.uuid]
      found.set(id, {
        type: 'result',
        toolUseId: id,
        tool: use.call.name,
        kind,
        ...(use.path === undefined ? nothing : { path: use.path }),
        uuids: before ? [...before.uuids, ...uuids] : uuids,
        message: before?.message ?? message,
        tokens: (before?.tokens ?? 0) + got.tokens,
        frees: (before?.frees ?? 0) + frees,
      })
    }
  }
  return [...found.values()].filter((item) => item !== undefined)
}

const none: readonly string[] = []
const nothing = {}

type Use = {
  readonly call: ToolUseBlock
  readonly uuid: string | undefined
  readonly kind: ToolKind | undefined
  readonly path: string | undefined
}
type Got = {
  readonly result: ToolResultBlock
  readonly uuid: string | undefined
  /** Whether an edit can reach it, and has something to clear. */
  readonly isClearable: boolean
  /** By the rule, and by the counter. */
  readonly tokens: number
  readonly weight: number
}

/** A call and its result, with what is known of either. */
export type CallInView = AnsweredCall & { readonly message: number; readonly use: Use; readonly got: Got }

/** Every result whose call stands before it, in the order of the view. */
export function answeredCalls({ sources }: View, weigher: Weigher): readonly CallInView[] {
  const scan = weigher.once(scannerOf, weigher)
  const calls = new Map<string, Use>()
  const found: CallInView[] = []
  for (const [message, source] of sources.entries()) {
    const { uses, results } = weigher.once(scan, source)
    for (const use of uses) calls.set(use.call.id, use)
    for (const got of results) {
      const use = calls.get(got.result.tool_use_id)
      if (use) found.push({ call: use.call, result: got.result, message, use, got })
    }
  }
  return found
}

type Scan = { readonly uses: readonly Use[]; readonly results: readonly Got[] }

/** One for each weigher, so that each source is looked at once. */
function scannerOf(weigher: Weigher): (source: Source) => Scan {
  return ({ pieces }) => {
    const uses: Use[] = []
    const results: Got[] = []
    for (const { uuid, content, origin } of pieces) {
      for (const block of typeof content === 'string' ? [] : blocksOf(content)) {
        if (isToolUse(block)) uses.push({ call: block, uuid, kind: toolKind(block), path: pathOf(block.input) })
        if (!isToolResult(block)) continue
        const isClearable = origin === 'tool-result' && !isCleared(block)
        results.push({
          result: block,
          uuid,
          isClearable,
          tokens: ruleTokens(block, weigher),
          weight: weigher.block(block),
        })
      }
    }
    return { uses, results }
  }
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
