// The size of the context: what the latest answer reported plus an estimate of everything after it.
import type { ViewMessage } from '../message/message.ts'
import { contextTokens, type Usage } from '../message/usage.ts'
import { addMeasures, type Measure, type Measuring, measureContent, nothing } from './estimate/blocks.ts'
import { type Counting, scaled, withMargin } from './estimate/counting.ts'

export type SizeOptions = Counting & {
  /**
   * The first message whose usage is valid, by index or uuid: earlier usage predates a compaction or an edit. An
   * unknown uuid means none is.
   */
  readonly freshFrom?: number | string | undefined
  /** Estimated tokens of system prompt and tools, counted only while no usage includes them. */
  readonly overhead?: number | undefined
  /** Like measureContent, and may cache. */
  readonly measure?: ((message: ViewMessage, how: Measuring) => Measure) | undefined
  /**
   * For a view, which knows its answers: those whose usage is valid, each with the tokens removed since. Replaces all
   * other checks.
   */
  readonly trusted?: ReadonlyMap<number, number> | undefined
  /** Tokens that the provider was asked to drop since the newest answer and that are still in the messages. */
  readonly leftOut?: number | undefined
  /** An answer that reports more than the largest window is not believed. */
  readonly window?: number | undefined
}

export type ContextSize = {
  readonly tokens: number
  readonly reported: number
  /** Including the margin. */
  readonly estimated: number
  readonly source: 'usage' | 'usage+estimate' | 'estimate'
  /** Subtracted because it was removed afterwards; negative if something came back. */
  readonly freed?: number
  /** The first message of the answer whose usage was used. */
  readonly anchorUuid?: string
}

/** An answer with valid usage, and the messages around it. */
type Anchor = {
  readonly usage: Usage
  readonly own: Measure
  /** Everything after its first piece, except its pieces. */
  readonly after: Measure
  readonly uuid?: string | undefined
  /** Tokens removed since, and what is left of everything up to its last piece. */
  readonly gone?: { readonly freed: number; readonly left: Measure } | undefined
}

/** The default model is that of the newest answer; images are scaled only for a given model. */
export function contextSize(messages: readonly ViewMessage[], options: SizeOptions = {}): ContextSize {
  const anchor = findAnchor(messages, options)
  const all = anchor
    ? nothing
    : messages.reduce((sum, message) => addMeasures(sum, measureOf(message, options)), nothing)
  return sizeFrom({ anchor, all }, { ...options, model: options.model ?? modelOf(messages) })
}

/** `all` measures every message and counts only without an anchor. */
function sizeFrom(
  parts: { readonly anchor: Anchor | undefined; readonly all: Measure },
  options: SizeOptions,
): ContextSize {
  const { anchor, all } = parts
  if (!anchor) {
    const said = Math.max(0, scaled(all, options) - (options.leftOut ?? 0))
    const estimated = withMargin(said + (options.overhead ?? 0))
    return { tokens: estimated, reported: 0, estimated, source: 'estimate' }
  }
  const isStub = hasStubOutput(anchor)
  const counted = contextTokens(anchor.usage)
  const { freed = 0, left = nothing } = anchor.gone ?? {}
  const rest = scaled(left, options) + (options.overhead ?? 0) - (options.leftOut ?? 0)
  const reported = freed > 0 ? afterRemoval(counted, freed, rest) : counted
  const after = scaled(isStub ? addMeasures(anchor.after, anchor.own) : anchor.after, options)
  // What came back was never reported.
  const estimated = withMargin(after) + Math.max(0, -freed)
  return {
    tokens: reported + estimated,
    reported,
    estimated,
    source: estimated > 0 ? 'usage+estimate' : 'usage',
    ...(freed === 0 ? {} : { freed: freed > 0 ? counted - reported : freed }),
    ...(anchor.uuid === undefined ? {} : { anchorUuid: anchor.uuid }),
  }
}

/**
 * The size after a removal. Sizes are reported and removals estimated, so they may disagree: the share removed is never
 * larger than by the estimate alone.
 */
function afterRemoval(size: number, gone: number, left: number): number {
  const share = gone / (gone + Math.max(0, left))
  return Math.round(Math.max(size - gone, size * (1 - share)))
}

/**
 * Clients up to early 2026 stored the output count from the start of the stream (1 to 10). A long answer with so few
 * tokens is estimated instead.
 */
function hasStubOutput({ usage, own }: Anchor): boolean {
  return usage.output <= 10 && own.text > 200
}

function measureOf(message: ViewMessage, options: SizeOptions): Measure {
  return options.measure ? options.measure(message, options) : measureContent(message.content, options)
}

/** No model has a larger window: a server that reports more made it up. */
const largestWindow = 2_000_000

/** The usage of an assistant message, if plausible. */
function usableUsage({ role, usage }: ViewMessage, window = 0): Usage | undefined {
  if (role !== 'assistant' || !usage) return undefined
  const tokens = contextTokens(usage)
  return tokens > 0 && tokens <= Math.max(window, largestWindow) ? usage : undefined
}

/** Of two reports for one answer, the larger is the final one; of equal ones the later. */
function laterUsage(known: Usage | undefined, fresh: Usage): Usage {
  return known && contextTokens(known) > contextTokens(fresh) ? known : fresh
}

function isPieceOf(message: ViewMessage, messageId: string | undefined): boolean {
  return messageId !== undefined && message.role === 'assistant' && message.messageId === messageId
}

function findAnchor(messages: readonly ViewMessage[], options: SizeOptions): Anchor | undefined {
  const isFresh = freshness(messages, options)
  const usageAt = (message: ViewMessage, index: number) =>
    isFresh(message, index) ? usableUsage(message, options.window) : undefined
  const newest = messages.findLastIndex((message, index) => usageAt(message, index) !== undefined)
  const answer = messages[newest]
  if (!answer) return undefined
  const first = firstPiece(messages, newest)
  let usage: Usage | undefined
  let own = nothing
  let after = nothing
  for (let index = first; index < messages.length; index++) {
    const message = messages[index]
    if (!message) continue
    if (index === newest || isPieceOf(message, answer.messageId)) {
      own = addMeasures(own, measureOf(message, options))
      const reported = usageAt(message, index)
      if (reported) usage = laterUsage(usage, reported)
    } else after = addMeasures(after, measureOf(message, options))
  }
  return usage && { usage, own, after, uuid: messages[first]?.uuid, gone: goneSince(messages, newest, options) }
}

function goneSince(messages: readonly ViewMessage[], answer: number, options: SizeOptions): Anchor['gone'] {
  const freed = (options.trusted?.get(answer) ?? 0) + (options.leftOut ?? 0)
  if (freed === 0) return undefined
  const left = messages.slice(0, answer + 1)
  return { freed, left: left.reduce((sum, message) => addMeasures(sum, measureOf(message, options)), nothing) }
}

/** Tool results may separate the pieces of one answer, but never another answer. */
function firstPiece(messages: readonly ViewMessage[], newest: number): number {
  const id = messages[newest]?.messageId
  let first = newest
  for (let index = newest - 1; index >= 0 && id !== undefined; index--) {
    const message = messages[index]
    if (message?.role !== 'assistant') continue
    if (!isPieceOf(message, id)) break
    first = index
  }
  return first
}

type Freshness = (message: ViewMessage, index: number) => boolean

/** A summary invalidates usage before it, and that of older messages kept after it. */
function freshness(messages: readonly ViewMessage[], { freshFrom = 0, trusted }: SizeOptions): Freshness {
  if (trusted) return (_, index) => trusted.has(index)
  const named = typeof freshFrom === 'string' ? messages.findIndex((message) => message.uuid === freshFrom) : freshFrom
  const from = named < 0 ? messages.length : named
  const last = messages.findLastIndex(({ origin }) => origin === 'summary')
  const time = messages.reduce(
    (newest, message) => (message.origin === 'summary' ? Math.max(newest, message.time ?? newest) : newest),
    Number.NEGATIVE_INFINITY,
  )
  return (message, index) => index >= from && index > last && (message.time === undefined || message.time >= time)
}

/** The model of an answer, unless synthetic. */
function realModel({ role, model }: ViewMessage): string | undefined {
  return role === 'assistant' && model !== '<synthetic>' ? model : undefined
}

export function modelOf(messages: readonly ViewMessage[]): string | undefined {
  return messages.findLast((message) => realModel(message) !== undefined)?.model
}
