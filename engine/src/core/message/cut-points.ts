// Where a conversation may be cut, and its rounds (an answer with the results of its calls) and turns (from one human message
// to the next). A cut at index i lies before message i.
import { blocksOf, isThinking, isToolResult, type Message, pairsOf } from './message.ts'

/** Messages with the same id are parts of one answer. */
export type CutMessage = Message & { readonly messageId?: string }

export type CutSet = (index: number) => boolean

export type CutOptions = {
  /** The kind of message that will precede the part after the cut. */
  readonly before?: 'nothing' | 'user-message'
}

/** A cut never separates a call from its result, the parts of one answer, or thinking from its answer. */
export function legalCuts(messages: readonly CutMessage[], { before = 'nothing' }: CutOptions = {}): CutSet {
  const isInside = insideOf([...pairRanges(messages), ...answerRanges(messages)], messages.length)
  return (index) => {
    const [last, next] = [messages[index - 1], messages[index]]
    if (index < 0 || index > messages.length || isInside[index] === 1) return false
    if (before === 'nothing' && next !== undefined && next.role !== 'user') return false
    const isThought = last?.role === 'assistant' && next?.role === 'assistant'
    return !isThought || !blocksOf(last.content).slice(-1).some(isThinking)
  }
}

type IndexRange = { readonly first: number; readonly last: number }

/** The ranges from each call to its result, including parallel calls and server tools. */
function pairRanges(messages: readonly CutMessage[]): readonly IndexRange[] {
  return pairsOf(messages).flatMap(({ uses, results }) => {
    const all = [...uses, ...results].map(({ message }) => message)
    return uses.length > 0 && results.length > 0 ? [{ first: Math.min(...all), last: Math.max(...all) }] : []
  })
}

function answerRanges(messages: readonly CutMessage[]): readonly IndexRange[] {
  const ranges = new Map<string, IndexRange>()
  for (const [index, { messageId }] of messages.entries()) {
    if (messageId !== undefined) ranges.set(messageId, { first: ranges.get(messageId)?.first ?? index, last: index })
  }
  return [...ranges.values()]
}

/** The nearest index at or before this one; undefined when there is none. */
export function cutBefore(cuts: CutSet, index: number): number | undefined {
  for (let at = index; at >= 0; at--) if (cuts(at)) return at
  return undefined
}

/** The nearest index at or after this one, up to the number of messages. */
export function cutAfter(cuts: CutSet, from: { readonly index: number; readonly length: number }): number | undefined {
  for (let at = from.index; at <= from.length; at++) if (cuts(at)) return at
  return undefined
}

/** 1 for every cut inside one of the ranges. */
function insideOf(ranges: readonly IndexRange[], length: number): Uint8Array {
  const steps = new Int32Array(length + 2)
  for (const { first, last } of ranges) {
    steps[first + 1] = (steps[first + 1] ?? 0) + 1
    steps[last + 1] = (steps[last + 1] ?? 0) - 1
  }
  let depth = 0
  return Uint8Array.from(steps, (step) => {
    depth += step
    return depth > 0 ? 1 : 0
  })
}

/** `end` is exclusive. */
export type MessageRange = { readonly start: number; readonly end: number }

export type Round = MessageRange & {
  /** 'prompt': user messages that no answer asked for. 'answer': an answer and the results of its calls. */
  readonly type: 'prompt' | 'answer'
}

export function roundsOf(messages: readonly CutMessage[]): readonly Round[] {
  const rounds: Round[] = []
  for (const [index, message] of messages.entries()) {
    const last = rounds.at(-1)
    if (last && continues(last, message, messages[last.start])) rounds[rounds.length - 1] = { ...last, end: index + 1 }
    else rounds.push({ type: message.role === 'assistant' ? 'answer' : 'prompt', start: index, end: index + 1 })
  }
  return rounds
}

/** Tool results belong to the answer before them, and so do the other parts of that answer. */
function continues({ type }: Round, { role, content, messageId }: CutMessage, first: CutMessage | undefined): boolean {
  if (role === 'user') return blocksOf(content).some(isToolResult) === (type === 'answer')
  return type === 'answer' && messageId !== undefined && messageId === first?.messageId
}

/** A message can hold both results and typed text, so also check the legal cuts before cutting at a turn. */
export function turnsOf<M extends Message>(
  messages: readonly M[],
  isHuman: (message: M, index: number) => boolean,
): readonly MessageRange[] {
  const starts = messages.flatMap((message, index) => (index === 0 || isHuman(message, index) ? [index] : []))
  return starts.map((start, at) => ({ start, end: starts[at + 1] ?? messages.length }))
}

/** Widens the range until it splits no pair, answer or thinking. */
export function widened(messages: readonly CutMessage[], { start, end }: MessageRange): MessageRange {
  const cuts = legalCuts(messages, { before: 'user-message' })
  return {
    start: cutBefore(cuts, start) ?? 0,
    end: cutAfter(cuts, { index: end, length: messages.length }) ?? messages.length,
  }
}
