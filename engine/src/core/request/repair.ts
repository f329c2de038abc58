// Makes a request valid after any cut, from messages or from the view, with thinking and the provider's own summary as the model
// accepts them. Every request to a model passes through here.
import { modelFacts } from '../catalog/models.ts'
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import {
  type Block,
  blocksOf,
  isBlank,
  isBlock,
  isText,
  isThinking,
  isToolResult,
  type Message,
} from '../message/message.ts'
import { readableBlock } from '../message/readable.ts'
import type { ModelClient } from '../ports/model.ts'
import { wellFormedValue } from '../text/cut.ts'
import type { View } from '../transcript/view/fold.ts'
import { checkRequest, endsInSpace, holdsEmptyText, isUnsigned, lacksId } from './check-request.ts'
import {
  changeBlocks,
  type Draft,
  idsOfCalls,
  missingResult,
  note,
  type Pass,
  pairedResults,
  pairedServerTools,
  type Repair,
  type Report,
  resultAsText,
  uniqueUses,
  useAsText,
  withBlocks,
} from './repair-pairs.ts'

/**
 * strip-unsigned (the default): drops thinking without its signature, which the API refuses. strip-changed: also drops the
 * thinking of the messages in `changed`, for models that bind it to the exact prefix. strip-all: drops all of it. An answer loses
 * all of its thinking or none.
 */
export type ThinkingRepair = 'strip-unsigned' | 'strip-changed' | 'strip-all'

export type RepairOptions = {
  readonly thinking?: ThinkingRepair
  /** Messages whose thinking was made for another prefix. */
  readonly changed?: ReadonlySet<number>
}

export type Repaired = {
  /** The given array if nothing had to change. */
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
  withoutSpaceAtEnd,
]
/** A repair may uncover another problem, so the passes run in rounds. More than a few rounds mean that two passes undo each other. */
const maxRounds = 12

export function repairRequest(messages: readonly Message[], options: RepairOptions = {}): Repaired {
  const repairs: Repair[] = []
  const report: Report = (repair) => repairs.push(repair)
  let drafts: readonly Draft[] = messages.map((whole, index) => {
    const draft = { role: whole.role, blocks: blocksOf(whole.content), index, whole }
    return losesThinking(draft, options) ? withoutThinking(draft, report) : draft
  })
  const problems = checkRequest(drafts.map(messageOf))
  if (problems.some(({ type }) => type === 'block-not-accepted')) drafts = inReadableBlocks(drafts, report)
  if (problems.some(({ type }) => type === 'text-ill-formed')) drafts = inWholeCharacters(drafts, report)
  for (let round = 0; problems.length > 0; round++) {
    const before = repairs.length
    for (const pass of passes) drafts = pass(drafts, report)
    if (repairs.length === before || checkRequest(drafts.map(messageOf)).length === 0) break
    if (round === maxRounds) throw new Error('The repair of a request came to no end.')
  }
  return { messages: repairs.length === 0 ? messages : drafts.map(messageOf), repairs }
}

function messageOf({ role, blocks, whole }: Draft): Message {
  return whole ?? { role, content: blocks }
}

function losesThinking({ blocks, index }: Draft, { thinking, changed }: RepairOptions): boolean {
  if (!blocks.some(isThinking)) return false
  const isChanged = thinking === 'strip-changed' && changed?.has(index) === true
  return thinking === 'strip-all' || isChanged || blocks.some(isUnsigned)
}

function withoutThinking({ role, blocks, index }: Draft, report: Report): Draft {
  report({ type: 'thinking-dropped', message: index })
  return { role, blocks: blocks.filter((block) => !isThinking(block)), index }
}

/** Runs first, because the other passes expect blocks of known types. */
function inReadableBlocks(drafts: readonly Draft[], report: Report): readonly Draft[] {
  return changeBlocks(drafts, (block, { role, index }) => {
    const readable = readableBlock(block, role)
    if (readable !== block) report({ type: 'block-converted', message: index })
    return [readable]
  })
}

/** Runs before the pairing, because calls and results are paired by id. A signature does not match a changed text. */
function inWholeCharacters(drafts: readonly Draft[], report: Report): readonly Draft[] {
  return drafts.map((draft) => {
    const blocks = wellFormedValue(draft.blocks)
    if (blocks === draft.blocks) return draft
    report({ type: 'half-characters-replaced', message: draft.index })
    const isVoid = blocks.some((block, at) => isThinking(block) && block !== draft.blocks[at])
    return isVoid ? withoutThinking(withBlocks(draft, blocks), report) : withBlocks(draft, blocks)
  })
}

/** An answer that ends with thinking was cut off. A user message never holds thinking. */
function withoutStrayThinking(drafts: readonly Draft[], report: Report): readonly Draft[] {
  return drafts.map((draft) => {
    if (draft.role === 'user') return draft.blocks.some(isThinking) ? withoutThinking(draft, report) : draft
    const end = draft.blocks.findLastIndex((block) => !isThinking(block)) + 1
    if (end === draft.blocks.length) return draft
    report({ type: 'thinking-dropped', message: draft.index })
    return withBlocks(draft, draft.blocks.slice(0, end))
  })
}

/** Turns a call or a result without an id into text, because it cannot be paired. */
function withoutNameless(drafts: readonly Draft[], report: Report): readonly Draft[] {
  return changeBlocks(drafts, (block, { index }) => {
    if (!lacksId(block)) return [block]
    const isUse = block.type === 'tool_use'
    report({ type: isUse ? 'use-became-text' : 'result-became-text', message: index })
    return isUse ? [useAsText(block)] : resultAsText(block)
  })
}

/** A result may be empty but may not contain an empty text. */
function withoutEmpty(drafts: readonly Draft[], report: Report): readonly Draft[] {
  return drafts.flatMap((draft) => {
    const blocks = draft.blocks.filter((block) => !isBlank(block)).map(withoutEmptyTexts)
    const full = withBlocks(draft, blocks)
    if (full === draft && blocks.length > 0) return [draft]
    report({ type: 'empty-dropped', message: draft.index })
    return blocks.length === 0 ? [] : [full]
  })
}

function withoutEmptyTexts(block: Block): Block {
  if (!isToolResult(block) || !holdsEmptyText(block)) return block
  return { ...block, content: blocksOf(block.content).filter((part) => !isBlank(part)) }
}

/** Adds missing results between two answers: the request for the second answer had them. */
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

/** A request begins with a user message. The added one says what it is, so that the model does not take it for a question. */
function opened(drafts: readonly Draft[], report: Report): readonly Draft[] {
  if (drafts[0]?.role !== 'assistant') return drafts
  report({ type: 'opening-added', message: 0 })
  return [{ role: 'user', blocks: [note(opening)], index: 0 }, ...drafts]
}

/** A model refuses to continue an answer that ends in white space. */
function withoutSpaceAtEnd(drafts: readonly Draft[], report: Report): readonly Draft[] {
  const last = drafts.at(-1)
  const end = last?.blocks.at(-1)
  if (!last || !end || !isText(end) || !endsInSpace(last.role, last.blocks)) return drafts
  report({ type: 'space-trimmed', message: last.index })
  const blocks = last.blocks.with(-1, { ...end, text: end.text.trimEnd() })
  return drafts.with(-1, withBlocks(last, blocks))
}

export type RequestChoices = {
  /** An unknown model is assumed to bind thinking, which is safe either way. */
  readonly model?: string | undefined
  /** The next messages, if the transcript does not have them yet. */
  readonly next?: readonly Message[] | undefined
}

export function requestMessages(view: View, choices: RequestChoices = {}): Repaired {
  const { model, next = [] } = choices
  const binds = model === undefined || (modelFacts(model)?.bindsThinking ?? true)
  const messages = [...view.messages, ...next].map(({ role, content }): Message => ({ role, content }))
  return repairRequest(messages, binds ? { thinking: 'strip-changed', changed: voidedIn(view, model) } : {})
}

/** Answers whose thinking is invalid for a model that binds it, because it was made for another prefix or by another model. */
function voidedIn({ messages, changed }: View, model: string | undefined): ReadonlySet<number> {
  if (model === undefined) return changed
  const named = new Set(messages.map((message) => message.model))
  const others = new Set([...named].filter((own) => own !== undefined && !isSameModel(own, model)))
  if (others.size === 0) return changed
  const foreign = messages.flatMap(({ role, model: own }, at) => (role === 'assistant' && others.has(own) ? [at] : []))
  return new Set([...changed, ...foreign])
}

/** Answers name their model more exactly than requests do, so a date is ignored. */
function isSameModel(one: string, other: string): boolean {
  return one === other || (modelFacts(one) !== undefined && modelFacts(one) === modelFacts(other))
}

/** True if the request continues an answer that began without thinking. The API then refuses manual thinking. */
export function continuesUnthought(messages: readonly Message[]): boolean {
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && !blocksOf(content).some(isToolResult))
  const first = firstOf(messages[asked + 1])
  return first !== undefined && !isThinking(first)
}

/** Drops the thinking of answers that do not begin with it, for manual thinking. Returns the same array if there are none. */
export function withThinkingFirst(messages: readonly Message[]): readonly Message[] {
  const isOdd = (message: Message) => {
    const first = firstOf(message)
    return first !== undefined && !isThinking(first) && blocksOf(message.content).some(isThinking)
  }
  if (!messages.some(isOdd)) return messages
  const unthought = ({ content }: Message) => blocksOf(content).filter((block) => !isThinking(block))
  return messages.map((message) => (isOdd(message) ? { ...message, content: unthought(message) } : message))
}

function firstOf(message: Message | undefined): Block | undefined {
  return blocksOf(message?.content).find(({ type }) => type !== 'compaction')
}

/** Header for the provider's own compaction, and for every later request with its block. */
export const onDemandBeta = 'compact-2026-09-04'

/** Stored on the record of the summary, next to its text. */
export type ProviderSummary = {
  readonly provider: string
  readonly model: string
  readonly block: Block
  /** Text that follows the block and replaces the text of the summary. */
  readonly beside: string
}

/** The block stored on a summary's record if this model can read it. All other models read the summary as text. */
export function providerSummaryIn(
  record: JsonObject | undefined,
  client: ModelClient,
  model: string,
): ProviderSummary | undefined {
  const stored = objectAt(objectAt(record, 'everlong'), 'served')
  const [provider, by, beside] = [stringAt(stored, 'provider'), stringAt(stored, 'model'), stringAt(stored, 'beside')]
  const block = stored?.block
  if (provider === undefined || by === undefined || beside === undefined || !isBlock(block)) return undefined
  if (provider !== client.provider || !isSameModel(by, model)) return undefined
  return client.capabilities(model).compaction === 'on-demand' ? { provider, model: by, block, beside } : undefined
}
