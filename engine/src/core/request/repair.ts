// Makes a request valid, whatever was cut out of it. Everything that goes to a model passes through here.
import { type Block, blocksOf, isBlank, isEmptyText, isThinking, isToolResult, isToolUse } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import { wellFormedValue } from '../text/well-formed.ts'
import { checkRequest } from './check-request.ts'
import { type Draft, note, type Pass, type Repair, type Report, resultAsText, useAsText, withBlocks } from './draft.ts'
import { idsOfCalls, missingResult, pairedResults, pairedServerTools, uniqueUses } from './repair-pairs.ts'

/**
 * keep: as it is, for targets that do not look at it. strip-unsigned (the default): the API refuses thinking without
 * its signature. strip-changed: also that of messages that are named, for models that bind it to the exact prefix.
 * strip-all: none is left. An answer loses all of its thinking or none.
 */
export type ThinkingRepair = 'keep' | 'strip-unsigned' | 'strip-changed' | 'strip-all'

export type RepairOptions = {
  readonly thinking?: ThinkingRepair
  /** Messages whose thinking was made for another prefix. */
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
  const given = stripped(messages, options, report)
  const problems = checkRequest(given)
  if (problems.length === 0) return { messages: given, repairs }
  const asDraft = (whole: Message, index: number): Draft => {
    return { role: whole.role, blocks: blocksOf(whole.content), index, whole }
  }
  let drafts: readonly Draft[] = given.map(asDraft)
  if (problems.some(({ type }) => type === 'text-ill-formed')) drafts = inWholeCharacters(drafts, report)
  for (let round = 0; ; round++) {
    const before = repairs.length
    for (const pass of passes) drafts = pass(drafts, report)
    if (repairs.length === before || checkRequest(drafts.map(messageOf)).length === 0) break
    if (round === mostRounds) throw new Error('The repair of a request came to no end.')
  }
  return repairs.length === 0 ? { messages, repairs } : { messages: drafts.map(messageOf), repairs }
}

function messageOf({ role, blocks, whole }: Draft): Message {
  return whole ?? { role, content: blocks }
}

/** The same array if no thinking goes. */
function stripped(messages: readonly Message[], options: RepairOptions, report: Report): readonly Message[] {
  const { thinking = 'strip-unsigned', changed } = options
  if (thinking === 'keep') return messages
  const isGoing = ({ content }: Message, index: number): boolean => {
    if (typeof content === 'string' || !blocksOf(content).some(isThinking)) return false
    const isChanged = thinking === 'strip-changed' && changed?.has(index) === true
    return thinking === 'strip-all' || isChanged || !blocksOf(content).filter(isThinking).every(isSigned)
  }
  if (!messages.some(isGoing)) return messages
  return messages.map((message, index) => {
    if (!isGoing(message, index)) return message
    report({ type: 'thinking-dropped', message: index })
    return { role: message.role, content: blocksOf(message.content).filter((block) => !isThinking(block)) }
  })
}

/** The API refuses thinking without it. */
function isSigned(block: Block): boolean {
  return Boolean(block.type === 'thinking' ? block.signature : block.data)
}

function withoutThinking(draft: Draft, report: Report): Draft {
  report({ type: 'thinking-dropped', message: draft.index })
  return { role: draft.role, blocks: draft.blocks.filter((block) => !isThinking(block)), index: draft.index }
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
  const isFull = ({ blocks }: Draft) =>
    blocks.length > 0 && !blocks.some((block) => isBlank(block) || hasEmptyText(block))
  if (drafts.every(isFull)) return drafts
  return drafts.flatMap((draft) => {
    if (isFull(draft)) return [draft]
    report({ type: 'empty-dropped', message: draft.index })
    const blocks = draft.blocks.filter((block) => !isBlank(block)).map(withoutEmptyTexts)
    return blocks.length === 0 ? [] : [withBlocks(draft, blocks)]
  })
}

function hasEmptyText(block: Block): boolean {
  return isToolResult(block) && Array.isArray(block.content) && block.content.some(isEmptyText)
}

/** A result may be empty, but may not hold an empty text. */
function withoutEmptyTexts(block: Block): Block {
  if (!hasEmptyText(block)) return block
  return { ...block, content: (block.content as readonly Block[]).filter((part) => !isEmptyText(part)) }
}

/** Between two answers it adds missing results: the second answer was given on a request that had those. */
function merged(drafts: readonly Draft[], report: Report): readonly Draft[] {
  const answered = new Set(
    drafts.flatMap(({ blocks }) => blocks.filter(isToolResult).map((block) => block.tool_use_id)),
  )
  const out: Draft[] = []
  let last: Draft | undefined
  let run: Block[] = []
  for (const draft of drafts) {
    const calls = last?.role === draft.role ? idsOfCalls(last) : []
    const before = out.at(-1)
    if (last && calls.length > 0 && !calls.some((id) => answered.has(id))) {
      const { index } = last
      out.push({ role: 'user', blocks: calls.map((id) => missingResult(id, index, report)), index }, draft)
    } else if (before?.role === draft.role) {
      report({ type: 'messages-merged', message: draft.index })
      if (before.blocks !== run) run = [...before.blocks]
      run.push(...draft.blocks)
      out[out.length - 1] = { role: draft.role, blocks: run, index: before.index }
    } else out.push(draft)
    last = draft
  }
  return out
}

/** A request begins with the user. The note says what it is, so that nobody takes it for a question. */
function opened(drafts: readonly Draft[], report: Report): readonly Draft[] {
  if (drafts[0]?.role !== 'assistant') return drafts
  report({ type: 'opening-added', message: 0 })
  return [{ role: 'user', blocks: [note(opening)], index: 0 }, ...drafts]
}
