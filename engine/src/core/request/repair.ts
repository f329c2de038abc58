// Makes a request valid, whatever was cut out of it. Everything that goes to a model passes through here. It reports what
// it did, leaves a valid request alone, and never puts words in a person's mouth.

import { type Block, isBlank, isEmptyText, isThinking, isToolResult, isToolUse } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import { wellFormedValue } from '../text/well-formed.ts'
import {
  type Draft,
  draftOf,
  messageOfDraft,
  note,
  type Pass,
  type Repair,
  type Report,
  resultAsText,
  useAsText,
  withBlocks,
} from './draft.ts'
import { interruptedCalls, pairedResults, pairedServerTools, uniqueUses } from './repair-pairs.ts'
import { isSound } from './sound.ts'

/**
 * keep: as it is, for targets that do not look at it. strip-unsigned (the default): the API refuses thinking without
 * its signature. strip-changed: also that of messages that are named, for models that bind it to the exact prefix.
 * strip-all: none is left. An answer loses all of its thinking or none.
 */
export type ThinkingRepair = 'keep' | 'strip-unsigned' | 'strip-changed' | 'strip-all'

export type RepairOptions = {
  readonly thinking?: ThinkingRepair
  /** Messages whose thinking was made for another prefix than the one that now stands before them. */
  readonly changed?: ReadonlySet<number>
}

export type Repaired = {
  /** The array that was given, when nothing had to be done. */
  readonly messages: readonly Message[]
  readonly repairs: readonly Repair[]
}

const opening = '[The conversation before this point is not part of this request.]'
const passes: readonly Pass[] = [
  withoutNameless,
  withoutEmpty,
  merged,
  withoutStrayThinking,
  uniqueUses,
  pairedServerTools,
  pairedResults,
  opened,
]
/** A repair may lay something else open, hence rounds. More than a few mean that two passes undo each other. */
const mostRounds = 12

export function repairRequest(messages: readonly Message[], options: RepairOptions = {}): Repaired {
  const repairs: Repair[] = []
  const report: Report = (repair) => repairs.push(repair)
  const given = stripThinking(messages.map(draftOf), { ...options, report })
  const drafts = repairDrafts(inWholeCharacters(given, report), repairs, report)
  return repairs.length === 0 ? { messages, repairs } : { messages: drafts.map(messageOfDraft), repairs }
}

/** Every pass reports in the order of the drafts, and returns a draft that it leaves alone as it is. */
function repairDrafts(given: readonly Draft[], repairs: readonly Repair[], report: Report): readonly Draft[] {
  let drafts = given
  for (let round = 0; !isSound(drafts); round++) {
    const before = repairs.length
    for (const pass of passes) drafts = pass(drafts, report)
    if (repairs.length === before) break
    if (round === mostRounds) throw new Error('The repair of a request came to no end.')
  }
  return drafts
}

function stripThinking(
  drafts: readonly Draft[],
  { thinking = 'strip-unsigned', changed, report }: RepairOptions & { readonly report: Report },
): readonly Draft[] {
  if (thinking === 'keep') return drafts
  return drafts.map((draft) => {
    if (!draft.blocks.some(isThinking)) return draft
    const blocks = draft.blocks.filter(isThinking)
    const isChanged = thinking === 'strip-changed' && changed?.has(draft.index) === true
    const isUnsigned = !blocks.every(isSigned)
    if (thinking !== 'strip-all' && !isChanged && !isUnsigned) return draft
    return withoutThinking(draft, report)
  })
}

/** The API refuses thinking without it. */
function isSigned(block: Block): boolean {
  return Boolean(block.type === 'thinking' ? block.signature : block.data)
}

function withoutThinking(draft: Draft, report: Report): Draft {
  report({ type: 'thinking-dropped', message: draft.index })
  return withBlocks(
    draft,
    draft.blocks.filter((block) => !isThinking(block)),
  )
}

/** Before everything else, since calls and results are paired by id. A signature does not fit a changed text. */
function inWholeCharacters(drafts: readonly Draft[], report: Report): readonly Draft[] {
  return drafts.map((draft) => {
    const blocks = wellFormedValue(draft.blocks)
    if (blocks === draft.blocks) return draft
    report({ type: 'half-characters-replaced', message: draft.index })
    const isVoid = blocks.some((block, at) => isThinking(block) && block !== draft.blocks[at])
    return isVoid ? withoutThinking(withBlocks(draft, blocks), report) : withBlocks(draft, blocks)
  })
}

/** An answer that ends with thinking was cut off; a user message holds none. */
function withoutStrayThinking(drafts: readonly Draft[], report: Report): readonly Draft[] {
  return drafts.map((draft) => {
    if (draft.role === 'user') return draft.blocks.some(isThinking) ? withoutThinking(draft, report) : draft
    const end = draft.blocks.findLastIndex((block) => !isThinking(block)) + 1
    if (end === draft.blocks.length) return draft
    report({ type: 'thinking-dropped', message: draft.index })
    return withBlocks(draft, draft.blocks.slice(0, end))
  })
}

/** A call or a result without an id cannot be paired; what it says stays, as text. */
function withoutNameless(drafts: readonly Draft[], report: Report): readonly Draft[] {
  return drafts.map((draft) => {
    if (!draft.blocks.some(isNameless)) return draft
    const blocks = draft.blocks.flatMap((block) => {
      if (!isNameless(block)) return [block]
      const isUse = block.type === 'tool_use'
      report({ type: isUse ? 'use-became-text' : 'result-became-text', message: draft.index })
      return isUse ? [useAsText(block)] : resultAsText(block)
    })
    return withBlocks(draft, blocks)
  })
}

function isNameless(block: Block): boolean {
  if (block.type === 'tool_use') return !isToolUse(block)
  return block.type === 'tool_result' && !isToolResult(block)
}

function withoutEmpty(drafts: readonly Draft[], report: Report): readonly Draft[] {
  const isFull = ({ blocks }: Draft) => blocks.length > 0 && !blocks.some(holdsNothing)
  if (drafts.every(isFull)) return drafts
  return drafts.flatMap((draft) => {
    if (isFull(draft)) return draft
    const blocks = draft.blocks.filter((block) => !isBlank(block)).map(withoutEmptyTexts)
    const mended = withBlocks(draft, blocks)
    if (mended !== draft || blocks.length === 0) report({ type: 'empty-dropped', message: draft.index })
    return blocks.length === 0 ? [] : [mended]
  })
}

/** Blank itself, or a result with an empty text in it. */
function holdsNothing(block: Block): boolean {
  return isBlank(block) || withoutEmptyTexts(block) !== block
}

/** A result may be empty, but may not hold an empty text. */
function withoutEmptyTexts(block: Block): Block {
  if (!isToolResult(block) || !Array.isArray(block.content) || !block.content.some(isEmptyText)) return block
  const content = block.content.filter((part) => !isEmptyText(part))
  return { ...block, content }
}

function merged(drafts: readonly Draft[], report: Report): readonly Draft[] {
  if (drafts.every(({ role }, at) => role !== drafts[at - 1]?.role)) return drafts
  const runs: Draft[][] = []
  for (const draft of drafts) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const results = last && last.role === draft.role ? interruptedCalls(last, drafts, report) : []
    if (results.length > 0) runs.push([{ role: 'user', blocks: results, index: last?.index ?? 0, whole: undefined }])
    if (run?.[0]?.role !== draft.role || results.length > 0) runs.push([draft])
    else {
      report({ type: 'messages-merged', message: draft.index })
      run.push(draft)
    }
  }
  return runs.flatMap(([first, ...others]) => {
    if (!first || others.length === 0) return first ?? []
    return { ...first, blocks: [first, ...others].flatMap(({ blocks }) => blocks), whole: undefined }
  })
}

/** A request begins with the user. The note says what it is, so that nobody takes it for a question. */
function opened(drafts: readonly Draft[], report: Report): readonly Draft[] {
  if (drafts[0]?.role !== 'assistant') return drafts
  report({ type: 'opening-added', message: 0 })
  return [{ role: 'user', blocks: [note(opening)], index: 0, whole: undefined }, ...drafts]
}
