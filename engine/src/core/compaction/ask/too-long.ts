// When the request for a summary is itself too long, the oldest rounds are dropped, as many as the provider's error asks
// for, and what was said in them is told instead. Works on values; nothing is sent, and nothing is dropped twice.
import { createLedger } from '../../ledger/ledger.ts'
import { type Block, isText, textOf } from '../../message/block.ts'
import type { Message } from '../../message/message.ts'
import { roundsOf } from '../../message/rounds.ts'
import type { Overflow } from '../../ports/model.ts'
import { carriedText } from '../../prompts/summary.ts'
import { offlineSummary } from '../page/offline.ts'
import type { PreparedMessage } from './prepare.ts'

export const truncationMarker = '[earlier conversation truncated for compaction retry]'

export type TextCounter = (text: string) => number

export type Truncated = {
  /** What is left, oldest first, without anything synthetic. */
  readonly left: readonly PreparedMessage[]
  readonly dropped: readonly PreparedMessage[]
  readonly groups: { readonly dropped: number; readonly left: number }
}

/** A marker from an earlier try would be a group of its own, and dropping it no progress. */
export function withoutMarkers(messages: readonly PreparedMessage[]): readonly PreparedMessage[] {
  if (!messages.some(({ content }) => content.some(isMarker))) return messages
  return messages.flatMap((message) => {
    const content = message.content.filter((block) => !isMarker(block))
    if (content.length === message.content.length) return [message]
    return content.length === 0 ? [] : [{ ...message, content }]
  })
}

function isMarker(block: Block): boolean {
  return isText(block) && block.text.trim() === truncationMarker
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
  let count = gap === undefined ? Math.max(1, Math.floor(rounds.length / 5)) : 0
  if (gap !== undefined) {
    for (let freed = 0; freed < gap && count < rounds.length; count++) {
      const round = rounds[count]
      if (round) for (const message of messages.slice(round.start, round.end)) freed += weigh(message)
    }
  }
  count = Math.min(Math.max(1, count), rounds.length - 1)
  const cut = rounds[count]?.start ?? messages.length
  return {
    left: messages.slice(cut),
    dropped: messages.slice(0, cut),
    groups: { dropped: count, left: rounds.length - count },
  }
}

/** By how much the prompt was too long, as far as the provider's words say. */
export function gapOf(overflow: Overflow | undefined): number | undefined {
  if (overflow?.actual === undefined || overflow.limit === undefined) return undefined
  const gap = overflow.actual + (overflow.maxTokens ?? 0) - overflow.limit
  return gap > 0 ? gap : undefined
}

export type FoldInOptions = { readonly countTokens: TextCounter; readonly budget: number }

/** What stands before the rest: facts and user messages of what was dropped, and the marker where an answer would open. */
export function withFoldedIn(
  { left, dropped }: Pick<Truncated, 'left' | 'dropped'>,
  options: FoldInOptions,
): readonly Message[] {
  if (dropped.length === 0) return left
  const { countTokens, budget } = options
  const marker: readonly Block[] = left[0]?.role === 'assistant' ? [{ type: 'text', text: truncationMarker }] : []
  const frame = countTokens(carriedText('facts', '')) + (marker.length > 0 ? countTokens(truncationMarker) : 0)
  const facts = foldedIn(dropped, { countTokens, budget: budget - frame })
  const opening: readonly Block[] = [
    ...(facts === '' ? [] : [{ type: 'text', text: carriedText('facts', facts) }]),
    ...marker,
  ]
  return opening.length === 0 ? left : [{ role: 'user', content: opening }, ...left]
}

/** What the earlier summary said and what the user said with the agent's reports, as far as there is room. */
function foldedIn(dropped: readonly PreparedMessage[], { countTokens, budget }: FoldInOptions): string {
  const book = createLedger()
  for (const { piece } of dropped) book.add(piece)
  const summary = dropped.findLast(({ piece }) => piece.origin === 'summary')
  const earlierSummary = summary && textOf(summary.piece.content)
  return offlineSummary({
    ledger: book.ledger(),
    earlierSummary,
    instructions: '',
    recall: false,
    tokens: budget,
    countTokens,
  })
}
