// A request for a summary that is itself too long. The oldest rounds are dropped, and a list of what was said in them replaces them;
// a history many times too long is read in windows, oldest first. Works on values; nothing is sent from here.
import { createLedger } from '../../ledger/ledger.ts'
import { type Block, isText, isToolResult, isToolUse, textOf } from '../../message/block.ts'
import { roundsOf } from '../../message/cut-points.ts'
import type { Message } from '../../message/message.ts'
import type { Overflow } from '../../ports/model.ts'
import { carriedText } from '../../prompts/summary.ts'
import { type TokenLimit, withoutMiddle } from '../../text/cut.ts'
import { offlineSummary } from '../page/record.ts'
import { type PreparedMessage, truncationMarker } from './request.ts'

export type Truncated = {
  /** The remaining messages, oldest first, without synthetic ones. */
  readonly left: readonly PreparedMessage[]
  readonly dropped: readonly PreparedMessage[]
  readonly groups: { readonly dropped: number; readonly left: number }
}

/**
 * Drops the oldest rounds: as many as cover the gap, or a fifth of them when it is not known; one at least, and one is
 * left at least. Undefined when there is only one.
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

/** By how much the prompt was too long, as far as the provider's words say. */
export function gapOf({ actual, limit, maxTokens = 0 }: Overflow = {}): number | undefined {
  if (actual === undefined || limit === undefined) return undefined
  const gap = actual + maxTokens - limit
  return gap > 0 ? gap : undefined
}

/** What comes before the rest: facts and user messages of the dropped part, and the marker where an answer would start. */
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

/** The earlier summary, and the user's messages with the agent's reports, as far as there is room. */
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

/** The texts of a round that is too large for a window are cut in the middle by the same share, until it fits. */
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
