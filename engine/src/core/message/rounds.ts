// Rounds (an answer with the results of its calls) and turns (from one human message to the next), without gaps.
import { blocksOf, isToolResult } from './block.ts'
import { type CutMessage, cutAfter, cutBefore, legalCuts } from './cut-points.ts'
import type { Message } from './message.ts'

/** Without `end`. */
export type Stretch = { readonly start: number; readonly end: number }

export type Round = Stretch & {
  /** 'prompt': user messages that no answer asked for. 'answer': an answer and what its calls brought back. */
  readonly type: 'prompt' | 'answer'
}

export function roundsOf(messages: readonly CutMessage[]): readonly Round[] {
  const rounds: Round[] = []
  for (const [index, message] of messages.entries()) {
    const last = rounds.at(-1)
    if (last && goesOn(last, message, messages[last.start])) rounds[rounds.length - 1] = { ...last, end: index + 1 }
    else rounds.push({ type: message.role === 'assistant' ? 'answer' : 'prompt', start: index, end: index + 1 })
  }
  return rounds
}

/** Results belong to the answer before them, and so do the other pieces of that answer. */
function goesOn({ type }: Round, { role, content, messageId }: CutMessage, first: CutMessage | undefined): boolean {
  if (role === 'user') return blocksOf(content).some(isToolResult) === (type === 'answer')
  return type === 'answer' && messageId !== undefined && messageId === first?.messageId
}

/** A message can hold results and typed text at once: to cut at a turn, check the legal cuts as well. */
export function turnsOf<M extends Message>(
  messages: readonly M[],
  isHuman: (message: M, index: number) => boolean,
): readonly Stretch[] {
  const starts = messages.flatMap((message, index) => (index === 0 || isHuman(message, index) ? [index] : []))
  return starts.map((start, at) => ({ start, end: starts[at + 1] ?? messages.length }))
}

/** The smallest stretch around this one that splits no pair, answer or thinking. */
export function widened(messages: readonly CutMessage[], { start, end }: Stretch): Stretch {
  const cuts = legalCuts(messages, { before: 'user-message' })
  return {
    start: cutBefore(cuts, start) ?? 0,
    end: cutAfter(cuts, { index: end, length: messages.length }) ?? messages.length,
  }
}
