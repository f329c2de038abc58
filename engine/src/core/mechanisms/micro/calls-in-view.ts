// The tool calls of a view that have a result, with what is known about both. Only what is new since the last view is
// read.
import {
  type Block,
  blocksOf,
  isMedia,
  isToolResult,
  isToolUse,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../../message/block.ts'
import type { AnsweredCall } from '../../tokens/file-reads.ts'
import { type ToolKind, toolCall } from '../../tools/call.ts'
import { clearedText } from '../../transcript/format/messages.ts'
import type { View } from '../../transcript/view/fold.ts'
import type { Source } from '../../transcript/view/merge.ts'
import { createFollower } from '../follow.ts'
import type { Weigher } from '../weigher.ts'

/** What one image or document counts for in the rules, whatever its size. */
const mediaTokens = 2_000

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
export function answeredCalls(view: View, weigher: Weigher): readonly CallInView[] {
  return weigher.once(weigher.once(callReader, weigher), view)
}

export function isCleared({ content }: ToolResultBlock): boolean {
  return typeof content === 'string' && content.startsWith(clearedText)
}

function callReader(weigher: Weigher): (view: View) => readonly CallInView[] {
  const scan = scannerOf(weigher)
  // By place, and not by source: behind a change most of them are still where they were.
  const scanned: { readonly source: Source; readonly found: Scan }[] = []
  const scanAt = (source: Source, index: number): Scan => {
    const known = scanned[index]
    if (known?.source === source) return known.found
    const found = scan(source)
    scanned[index] = { source, found }
    return found
  }
  const uses = new Map<string, Use>()
  const calls: CallInView[] = []
  const follow = createFollower((source: Source, message) => {
    const { uses: own, results } = scanAt(source, message)
    if (own.length === 0 && results.length === 0) return undefined
    const before = own.map((use): readonly [string, Use | undefined] => {
      const earlier = uses.get(use.call.id)
      uses.set(use.call.id, use)
      return [use.call.id, earlier]
    })
    const { length } = calls
    for (const got of results) {
      const use = uses.get(got.result.tool_use_id)
      if (use) calls.push({ call: use.call, result: got.result, message, use, got })
    }
    return () => {
      calls.length = length
      for (const [id, earlier] of before.toReversed()) {
        if (earlier) uses.set(id, earlier)
        else uses.delete(id)
      }
    }
  })
  return ({ sources }) => {
    follow(sources)
    scanned.length = sources.length
    return calls.slice()
  }
}

type Scan = { readonly uses: readonly Use[]; readonly results: readonly Got[] }

function scannerOf(weigher: Weigher): (source: Source) => Scan {
  return ({ pieces }) => {
    const uses: Use[] = []
    const results: Got[] = []
    for (const { uuid, content, origin } of pieces) {
      for (const block of typeof content === 'string' ? [] : blocksOf(content)) {
        if (isToolUse(block)) {
          const { kind, path } = toolCall(block)
          uses.push({ call: block, uuid, kind, path })
        }
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

function ruleTokens(block: ToolResultBlock, weigher: Weigher): number {
  const parts = blocksOf(block.content)
  const media = parts.filter(isMedia)
  if (media.length === 0) return Math.round(weigher.block(block))
  const text = parts.filter((part: Block) => !isMedia(part)).reduce((sum, part) => sum + weigher.block(part), 0)
  return Math.round(text) + media.length * mediaTokens
}
