// Builds the requests for a summary: the conversation's own plus one message, so that its prefix is read from the cache, or a
// separate one with prepared messages. Also shortens them if they are too long. Sends nothing.
import { modelFacts } from '../../catalog/models.ts'
import { createLedger } from '../../ledger/ledger.ts'
import { roundsOf } from '../../message/cut-points.ts'
import { isObject } from '../../message/json.ts'
import {
  type Block,
  blocksOf,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type Message,
  textOf,
  type ViewMessage,
} from '../../message/message.ts'
import type { ModelRequest, Overflow } from '../../ports/model.ts'
import { carriedText, summarizerSystem } from '../../prompts/summary.ts'
import { markedBlocks } from '../../request/cache-marks.ts'
import { onDemandBeta, repairRequest } from '../../request/repair.ts'
import { type TokenLimit, withoutMiddle } from '../../text/cut.ts'
import { offlineSummary } from '../page/record.ts'

/**
 * Same model, system, tools, thinking, options and messages, plus one message. Sets no output limit, because that would change
 * the thinking budget and with it the key of the cache. Adds no mark, so nothing is written to the cache, unless the conversation
 * asks for it with a mark at its top level. `before` comes before the prompt.
 */
export function sharingRequest(conversation: ModelRequest, prompt: string, before?: string): ModelRequest {
  return { ...conversation, source: 'compact', messages: [...conversation.messages, asking(prompt, before)] }
}

/**
 * The conversation's request up to this message. The cache is read only at marks, and the last mark may be in the dropped part,
 * so the last user message gets it. An earlier request ended there, so nothing is written.
 */
export function requestUpTo(conversation: ModelRequest, end: number): ModelRequest {
  const messages = conversation.messages.slice(0, end)
  const left = conversation.messages.slice(end).flatMap(({ content }) => blocksOf(content))
  const mark = left.findLast(({ cache_control }) => isObject(cache_control))?.cache_control
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const message = messages[last]
  if (!isObject(mark) || !message) return { ...conversation, messages }
  const content = markedBlocks(blocksOf(message.content), mark)
  return { ...conversation, messages: messages.with(last, { ...message, content }) }
}

function asking(prompt: string, before?: string): Message {
  return {
    role: 'user',
    content: [...(before === undefined ? [] : [before]), prompt].map((text) => ({ type: 'text', text })),
  }
}

type DirectInput = Pick<Required<ModelRequest>, 'model' | 'messages' | 'maxTokens'> & { readonly prompt: string }

/** Has a short system prompt and no tools, and switches thinking off if possible. */
export function directRequest({ model, messages, prompt, maxTokens }: DirectInput): ModelRequest {
  const { thinking, thinksUnasked } = modelFacts(model) ?? {}
  const bare = [...messages, asking(prompt)].map(({ role, content }) => ({ role, content }))
  return {
    source: 'compact',
    model,
    system: summarizerSystem,
    messages: repairRequest(bare, { thinking: 'strip-all' }).messages,
    maxTokens,
    ...(thinksUnasked && thinking !== 'always' && thinking !== 'none' ? { thinking: { type: 'disabled' } } : {}),
  }
}

/** The answered request, the answer, and the request for a shorter one. */
export function shorterRequest(
  { request, answer }: { readonly request: ModelRequest; readonly answer: { readonly content: readonly Block[] } },
  prompt: string,
): ModelRequest {
  return { ...request, messages: [...request.messages, { role: 'assistant', content: answer.content }, asking(prompt)] }
}

/** The provider's own compaction, with the cache of the conversation's request. Drops options that it refuses. */
export function onDemandRequest(conversation: ModelRequest, instructions: string): ModelRequest {
  const {
    context_management: _management,
    stop_sequences: _stops,
    tool_choice: choice,
    ...rest
  } = conversation.options ?? {}
  const isOpen = isObject(choice) && (choice.type === 'auto' || choice.type === 'none')
  return {
    ...conversation,
    source: 'compact',
    betas: [...new Set([...(conversation.betas ?? []), onDemandBeta])],
    options: { ...rest, ...(isOpen ? { tool_choice: choice } : {}), compaction: { type: 'summarize', instructions } },
  }
}

/** The provider's text in the form of a model's answer, so that it is judged and checked like any other summary. */
export function onDemandText(content: readonly Block[]): readonly Block[] {
  return content.map((block) =>
    block.type === 'compaction' && typeof block.content === 'string' ? { type: 'text', text: block.content } : block,
  )
}

/**
 * Comes before an answer that would open a request whose oldest rounds were dropped. Drops one that is already in the
 * conversation.
 */
export const truncationMarker = '[earlier conversation truncated for compaction retry]'

/** Injected again after every compaction, or useless to a reader of the summary. */
const reinjected = new Set([
  'skill_listing',
  'skill_discovery',
  'agent_listing_delta',
  'deferred_tools_delta',
  'mcp_instructions_delta',
  'tool_announcement',
  'nested_memory',
  'output_style',
  'plan_mode',
  'plan_mode_reentry',
  'todo_reminder',
  'task_reminder',
  'token_usage',
])

/** Includes its piece, so that a dropped message can still be read. */
export type PreparedMessage = Message & {
  readonly content: readonly Block[]
  readonly piece: ViewMessage
  readonly messageId?: string
}

/** One for each message that a summarizer should see, in order, without media and thinking. Not merged yet. */
export function preparedMessages(pieces: readonly ViewMessage[]): readonly PreparedMessage[] {
  return pieces.flatMap((piece) => {
    const content = preparedContent(piece)
    const { role, messageId } = piece
    return content.length === 0 ? [] : [{ role, content, piece, ...(messageId === undefined ? {} : { messageId }) }]
  })
}

function preparedContent({ content, origin, attachment }: ViewMessage): readonly Block[] {
  if (origin !== 'attachment') return blocksOf(content).filter(isPrepared).map(withoutMedia)
  const text = reinjected.has(attachment ?? '') ? '' : textOf(content)
  if (text === '') return []
  return [{ type: 'text', text: `<context kind="${attachment ?? 'unknown'}">\n${text}\n</context>` }]
}

function isPrepared(block: Block): boolean {
  return !isThinking(block) && !(isText(block) && block.text.trim() === truncationMarker)
}

/** Media are large and useless for a text, and many of them can make the request itself too long. */
function withoutMedia(block: Block): Block {
  if (isMedia(block)) return { type: 'text', text: `[${block.type}]` }
  if (!isToolResult(block) || typeof block.content === 'string' || block.content === undefined) return block
  const parts = blocksOf(block.content)
  return parts.some(isMedia) ? { ...block, content: parts.map(withoutMedia) } : block
}

// A request for a summary that is itself too long: the oldest rounds are dropped, and a list of what was said in them replaces
// them; a history many times too long is read in windows, oldest first.

export type Truncated = {
  /** The remaining messages, oldest first, without synthetic ones. */
  readonly left: readonly PreparedMessage[]
  readonly dropped: readonly PreparedMessage[]
  readonly groups: { readonly dropped: number; readonly left: number }
}

/**
 * Drops the oldest rounds to cover the gap, or a fifth of them if it is unknown. Drops at least one and leaves at least one.
 * Undefined if there is only one.
 */
export function truncated(
  messages: readonly PreparedMessage[],
  { gap, weigh }: { readonly gap: number | undefined; readonly weigh: (message: Message) => number },
): Truncated | undefined {
  const rounds = roundsOf(messages)
  if (rounds.length < 2) return undefined
  let freed = 0
  const covering = rounds.findIndex(({ start, end }) => {
    for (const message of messages.slice(start, end)) freed += weigh(message)
    return freed >= (gap ?? 0)
  })
  const wanted = gap === undefined ? Math.floor(rounds.length / 5) : covering < 0 ? rounds.length : covering + 1
  const count = Math.min(Math.max(1, wanted), rounds.length - 1)
  const cut = rounds[count]?.start ?? messages.length
  return {
    left: messages.slice(cut),
    dropped: messages.slice(0, cut),
    groups: { dropped: count, left: rounds.length - count },
  }
}

/** Tokens above the limit, as far as the provider named numbers. */
export function gapOf({ actual, limit, maxTokens = 0 }: Overflow = {}): number | undefined {
  if (actual === undefined || limit === undefined) return undefined
  const gap = actual + maxTokens - limit
  return gap > 0 ? gap : undefined
}

/** Comes before the rest: facts and user messages of the dropped part, and the marker if an answer would be first. */
export function withFoldedIn(
  { left, dropped }: Pick<Truncated, 'left' | 'dropped'>,
  { countTokens, tokens }: TokenLimit,
): readonly Message[] {
  if (dropped.length === 0) return left
  const marker = left[0]?.role === 'assistant' ? truncationMarker : ''
  const frame = countTokens(carriedText('facts', '')) + (marker === '' ? 0 : countTokens(marker))
  const facts = foldedIn(dropped, { countTokens, tokens: tokens - frame })
  const texts = [facts === '' ? '' : carriedText('facts', facts), marker].filter((text) => text !== '')
  return texts.length === 0 ? left : [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }, ...left]
}

/** The earlier summary, and the user's messages with the agent's reports, as far as they fit. */
function foldedIn(dropped: readonly PreparedMessage[], limit: TokenLimit): string {
  const book = createLedger()
  for (const { piece } of dropped) book.add(piece)
  const summary = dropped.findLast(({ piece }) => piece.origin === 'summary')
  return offlineSummary({
    ledger: book.ledger(),
    earlierSummary: summary && textOf(summary.piece.content),
    instructions: '',
    recall: false,
    ...limit,
  })
}

export type WindowOptions = {
  readonly size: number
  readonly weigh: (message: Message) => number
}

/** Whole rounds, in order; every message is in exactly one window. */
export function windowsOf(
  messages: readonly PreparedMessage[],
  { size, weigh }: WindowOptions,
): readonly (readonly PreparedMessage[])[] {
  const windows: PreparedMessage[][] = []
  let room = 0
  for (const { start, end } of roundsOf(messages)) {
    const { round, weight } = fitted(messages.slice(start, end), { size, weigh })
    const open = windows.at(-1)
    if (open && weight <= room) open.push(...round)
    else {
      windows.push([...round])
      room = size
    }
    room -= weight
  }
  return windows
}

/** Cuts the middle of all texts of a round that is too large for a window by the same share, until it fits. */
function fitted(messages: readonly PreparedMessage[], { size, weigh }: WindowOptions) {
  for (let attempt = 0, round = messages; ; attempt++) {
    const weight = round.reduce((sum, message) => sum + weigh(message), 0)
    if (weight <= size || attempt === 8) return { round, weight }
    const share = (size / weight) * 0.9
    round = round.map((message) => ({ ...message, content: message.content.map((block) => shortened(block, share)) }))
  }
}

const minLength = 400

function shortened(block: Block, share: number): Block {
  const cut = (text: string) =>
    text.length <= minLength ? text : withoutMiddle(text, { max: Math.max(minLength, text.length * share) })
  if (isText(block)) return { ...block, text: cut(block.text) }
  if (isToolResult(block)) return { ...block, content: cut(textOf(block.content)) }
  if (!isToolUse(block)) return block
  const input = JSON.stringify(block.input)
  return input.length <= minLength ? block : { ...block, input: { shortened: cut(input) } }
}
