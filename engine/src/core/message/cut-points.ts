// Legal cut points as algebra. A cut at index i lies before message i: 0 is before everything, the number of
// messages is behind everything. A cut set says of each index whether it may be cut there; sets can be combined.
import { blocksOf, isThinking } from './block.ts'
import type { Message } from './message.ts'
import { pairsOf } from './pairing.ts'

/** A message as far as cutting is concerned: pieces of one answer share an id. */
export type CutMessage = Message & { readonly messageId?: string }

export type CutSet = (index: number) => boolean

/** Never between a use and its result: parallel calls and server tools included. */
export function pairCuts(messages: readonly CutMessage[]): CutSet {
  const spans = pairsOf(messages).flatMap(({ uses, results }) => {
    const all = [...uses, ...results].map(({ message }) => message)
    return uses.length > 0 && results.length > 0 ? [{ first: Math.min(...all), last: Math.max(...all) }] : []
  })
  return outsideOf(spans, messages.length)
}

/** Never inside an answer that is stored in pieces. */
export function answerCuts(messages: readonly CutMessage[]): CutSet {
  const spans = new Map<string, { first: number; last: number }>()
  for (const [index, { messageId }] of messages.entries()) {
    if (messageId === undefined) continue
    const span = spans.get(messageId)
    if (span) span.last = index
    else spans.set(messageId, { first: index, last: index })
  }
  return outsideOf([...spans.values()], messages.length)
}

/** Never between thinking and what it belongs to, where the two are messages of their own. */
export function thinkingCuts(messages: readonly CutMessage[]): CutSet {
  return (index) => {
    const before = messages[index - 1]
    if (before?.role !== 'assistant' || messages[index]?.role !== 'assistant') return true
    const last = blocksOf(before.content).at(-1)
    return last === undefined || !isThinking(last)
  }
}

/** What remains behind the cut begins with the user. Not needed when something of the user's is put before it. */
export function openingCuts(messages: readonly CutMessage[]): CutSet {
  return (index) => index >= messages.length || messages[index]?.role === 'user'
}

/**
 * Never inside a tool loop: from an answer with calls to the answer that has none. Stricter than the API wants of
 * most models; for those that must be given their thinking back while a loop goes on.
 */
export function loopCuts(messages: readonly CutMessage[]): CutSet {
  const isMidLoop = messages.map(({ content, role }) =>
    role === 'user'
      ? blocksOf(content).some(({ type }) => type === 'tool_result')
      : blocksOf(content).some(({ type }) => type === 'tool_use'),
  )
  return (index) => index <= 0 || index >= messages.length || !isMidLoop[index - 1]
}

export function intersection(...sets: readonly CutSet[]): CutSet {
  return (index) => sets.every((set) => set(index))
}

export type CutOptions = {
  /** What will stand before the part behind the cut: nothing, or a message of the user's such as a summary. */
  readonly before?: 'nothing' | 'user-message'
}

/** Where a view may be cut so that the part behind it is a valid request. */
export function legalCuts(messages: readonly CutMessage[], { before = 'nothing' }: CutOptions = {}): CutSet {
  const sets = [pairCuts(messages), answerCuts(messages), thinkingCuts(messages)]
  const isInside: CutSet = (index) => index >= 0 && index <= messages.length
  return intersection(isInside, ...sets, ...(before === 'nothing' ? [openingCuts(messages)] : []))
}

/** The nearest index at or before this one; undefined when there is none. */
export function cutBefore(cuts: CutSet, index: number): number | undefined {
  for (let at = index; at >= 0; at--) if (cuts(at)) return at
  return undefined
}

/** The nearest index at or behind this one, up to the number of messages. */
export function cutAfter(cuts: CutSet, from: { readonly index: number; readonly length: number }): number | undefined {
  for (let at = from.index; at <= from.length; at++) if (cuts(at)) return at
  return undefined
}

/** Every index that is not inside one of the spans. A cut is inside when it has a part of the span on either side. */
function outsideOf(spans: readonly { readonly first: number; readonly last: number }[], length: number): CutSet {
  const steps = new Int32Array(length + 2)
  for (const { first, last } of spans) {
    steps[first + 1] = (steps[first + 1] ?? 0) + 1
    steps[last + 1] = (steps[last + 1] ?? 0) - 1
  }
  const isInside = new Uint8Array(length + 2)
  let depth = 0
  for (let at = 0; at < steps.length; at++) {
    depth += steps[at] ?? 0
    isInside[at] = depth > 0 ? 1 : 0
  }
  return (index) => isInside[index] !== 1
}
