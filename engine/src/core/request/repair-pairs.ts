// The data that the passes of a repair change, and the passes that pair calls with results, for client and server tools.

import { groupBy } from '../message/maps.ts'
import {
  type Block,
  blocksOf,
  isToolResult,
  isToolUse,
  type Message,
  pairHalfOf,
  type Role,
  type TextBlock,
  type ToolResultBlock,
  textOf,
} from '../message/message.ts'
import { neutralize } from '../text/neutralize.ts'

export type Repair = {
  readonly type:
    | 'thinking-dropped' // unsigned, bound to a changed prefix, at the end of an answer, or in the wrong role
    | 'half-characters-replaced' // lone surrogates, which no API accepts
    | 'block-converted' // unknown or broken blocks, MCP blocks, results whose content is an object, media from the assistant
    | 'space-trimmed' // at the end of an answer that the model continues
    | 'empty-dropped'
    | 'messages-merged'
    | 'result-added' // for a call without one
    | 'result-moved'
    | 'result-became-text' // its call is no longer there
    | 'use-became-text'
    | 'duplicate-dropped'
    | 'server-block-dropped' // a server tool's call without its result, or the reverse
    | 'opening-added'
  /** Index of the message in the request before the repair. */
  readonly message: number
  readonly id?: string
}

export type Draft = {
  readonly role: Role
  readonly blocks: readonly Block[]
  readonly index: number
  /** The original message, as long as nothing about it has changed. */
  readonly whole?: Message
}

export type Report = (repair: Repair) => void
/** Reports in the order of the drafts, and returns unchanged drafts as they are. */
export type Pass = (drafts: readonly Draft[], report: Report) => readonly Draft[]

/** The draft with these blocks. Returns the same object if they are the same. */
export function withBlocks(draft: Draft, blocks: readonly Block[]): Draft {
  const isSame = blocks.length === draft.blocks.length && blocks.every((block, at) => block === draft.blocks[at])
  return isSame ? draft : { role: draft.role, blocks, index: draft.index }
}

/** Replaces each block by others. Returns the same objects for drafts that do not change. */
export function changeBlocks(
  drafts: readonly Draft[],
  change: (block: Block, draft: Draft) => readonly Block[],
): readonly Draft[] {
  return drafts.map((draft) =>
    withBlocks(
      draft,
      draft.blocks.flatMap((block) => change(block, draft)),
    ),
  )
}

export function note(text: string): TextBlock {
  return { type: 'text', text }
}

/** The text of a result whose call is gone, and its images unchanged. */
export function resultAsText(result: Block): readonly Block[] {
  const text = textOf(result.content)
  const title = '[Result of a tool call that is no longer in this conversation]'
  const isMedia = ({ type }: Block) => type !== 'text' && !type.endsWith('_reference')
  return [note(text === '' ? title : `${title}\n${neutralize(text)}`), ...blocksOf(result.content).filter(isMedia)]
}

export function useAsText(use: Block): Block {
  return note(`[Tool call: ${neutralize(`${String(use.name)} ${JSON.stringify(use.input ?? {})}`)}]`)
}

const noResult = '[No result: the call was interrupted, or its result is not part of this conversation]'

/**
 * The first of several calls with one id stays. It does not get the result of the second, because the answers between them did
 * not see it.
 */
export function uniqueUses(drafts: readonly Draft[], report: Report): readonly Draft[] {
  const seen = new Map<string, { readonly block: Block; readonly draft: Draft }>()
  const answered = new Set<string>()
  const reused = new Set<string>()
  const resultOf = (block: ToolResultBlock, message: number): readonly Block[] => {
    const id = block.tool_use_id
    if (reused.has(id) && !answered.has(id)) {
      report({ type: 'result-became-text', message, id })
      return resultAsText(block)
    }
    if (seen.has(id)) answered.add(id)
    return [block]
  }
  return changeBlocks(drafts, (block, draft) => {
    if (isToolResult(block)) return resultOf(block, draft.index)
    if (!isToolUse(block)) return [block]
    const known = seen.get(block.id)
    if (known === undefined && draft.role === 'assistant') {
      seen.set(block.id, { block, draft })
      return [block]
    }
    if (known !== undefined && known.draft !== draft) reused.add(block.id)
    const isCopy = known !== undefined && isSame(known.block, block)
    report({ type: isCopy ? 'duplicate-dropped' : 'use-became-text', message: draft.index, id: block.id })
    return isCopy ? [] : [useAsText(block)]
  })
}

function isSame(one: Block, other: Block): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

export function idsOfCalls(draft: Draft | undefined): readonly string[] {
  return draft?.role === 'assistant' ? draft.blocks.filter(isToolUse).map(({ id }) => id) : []
}

export function missingResult(id: string, message: number, report: Report): Block {
  report({ type: 'result-added', message, id })
  return { type: 'tool_result', tool_use_id: id, content: noResult, is_error: true }
}

/** A result, where it is, and the message it belongs in. */
type FoundResult = { readonly at: number; readonly nth: number; readonly block: ToolResultBlock }
type PlacedResult = FoundResult & { readonly to: number }

/** Expects alternating roles and unique calls. Leaves every result where it belongs. */
export function pairedResults(drafts: readonly Draft[], report: Report): readonly Draft[] {
  const chosen = chooseResults(drafts)
  const fetched = (to: number, message: number): readonly Block[] =>
    idsOfCalls(drafts[to - 1]).flatMap((id) => {
      const found = chosen.get(id)
      if (found?.at === to) return []
      if (found) report({ type: 'result-moved', message, id })
      return [found?.block ?? missingResult(id, message, report)]
    })
  const out = drafts.map((draft, at) => {
    const missing = fetched(at, draft.index)
    if (missing.length === 0 && !draft.blocks.some(isToolResult)) return draft
    const inPlace: Block[] = []
    const rest: Block[] = []
    for (const [nth, block] of draft.blocks.entries()) {
      const used = isToolResult(block) ? chosen.get(block.tool_use_id) : undefined
      if (!isToolResult(block)) rest.push(block)
      else if (used?.at !== at || used.nth !== nth) rest.push(...leftover(block, used, { draft, report }))
      else if (used.to === at) inPlace.push(block)
    }
    return reordered(draft, [...inPlace, ...missing, ...rest], report)
  })
  const index = drafts.at(-1)?.index ?? 0
  const open = fetched(drafts.length, index)
  return open.length === 0 ? out : [...out, { role: 'user', blocks: open, index }]
}

/** The result of each call: the first one after it, otherwise any. */
function chooseResults(drafts: readonly Draft[]): ReadonlyMap<string, PlacedResult> {
  const results = drafts.flatMap(({ blocks }, at): readonly FoundResult[] =>
    blocks.flatMap((block, nth) => (isToolResult(block) ? [{ at, nth, block }] : [])),
  )
  const found = groupBy(results, ({ block }) => block.tool_use_id)
  const chosen = new Map<string, PlacedResult>()
  for (const [at, draft] of drafts.entries()) {
    for (const id of idsOfCalls(draft)) {
      const copies = found.get(id)
      const best = copies?.find((one) => one.at > at) ?? copies?.[0]
      if (best) chosen.set(id, { ...best, to: at + 1 })
    }
  }
  return chosen
}

function leftover(
  block: ToolResultBlock,
  used: FoundResult | undefined,
  { draft, report }: { readonly draft: Draft; readonly report: Report },
): readonly Block[] {
  const isCopy = used !== undefined && isSame(used.block, block)
  report({ type: isCopy ? 'duplicate-dropped' : 'result-became-text', message: draft.index, id: block.tool_use_id })
  return isCopy ? [] : resultAsText(block)
}

/** Reports only a change of order. Other changes are already reported. */
function reordered(draft: Draft, blocks: readonly Block[], report: Report): Draft {
  const arrangement = withBlocks(draft, blocks)
  if (arrangement !== draft && blocks.length === draft.blocks.length) {
    const before = new Set(draft.blocks)
    if (blocks.every((block) => before.has(block))) report({ type: 'result-moved', message: draft.index })
  }
  return arrangement
}

/** For server tools, a result follows its call. A call without a result stays only while the turn is paused on it. */
export function pairedServerTools(drafts: readonly Draft[], report: Report): readonly Draft[] {
  const uses = new Map<string, { readonly block: Block; readonly at: number }>()
  const answered = new Set<string>()
  const stays = new Set<Block>()
  for (const [at, { role, blocks }] of drafts.entries()) {
    for (const block of role === 'assistant' ? blocks : []) {
      const half = serverHalfOf(block)
      if (half?.half === 'use' && !uses.has(half.id)) uses.set(half.id, { block, at })
      if (half?.half === 'result' && uses.has(half.id) && !answered.has(half.id)) {
        answered.add(half.id)
        stays.add(block)
      }
    }
  }
  const last = drafts.at(-1)
  const isResults = last?.role === 'user' && last.blocks.every(isToolResult)
  const paused = drafts.length - (isResults ? 2 : 1)
  for (const [id, { block, at }] of uses) if (answered.has(id) || at === paused) stays.add(block)
  return changeBlocks(drafts, (block, { index }) => {
    const half = serverHalfOf(block)
    if (half === undefined || stays.has(block)) return [block]
    report({ type: 'server-block-dropped', message: index, id: half.id })
    return []
  })
}

function serverHalfOf(block: Block) {
  const half = pairHalfOf(block)
  return half?.tool === 'server' ? half : undefined
}
