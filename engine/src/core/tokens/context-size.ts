// The size of the context: the usage of the latest answer plus an estimate of everything after it. Also converts between our
// estimates and the provider's counts.
import type { ViewMessage } from '../message/message.ts'
import { contextTokens, type Usage } from '../message/usage.ts'
import {
  addMeasures,
  type Comparison,
  type Counting,
  convertedTokens,
  type Measure,
  type Measuring,
  measureContent,
  nothing,
  scaled,
  withMargin,
  withoutMargin,
} from './estimate/counting.ts'

export type SizeOptions = Counting & {
  /** Estimated tokens of system prompt and tools, counted only while no usage includes them. */
  readonly overhead?: number | undefined
  /** Replaces `measureContent`, for example to cache. */
  readonly measure?: ((message: ViewMessage, how: Measuring) => Measure) | undefined
  /** For a view: the answers with valid usage, and the tokens removed after each. Replaces all other checks. */
  readonly trusted?: ReadonlyMap<number, number> | undefined
  /** Tokens that are still in the messages, but that the provider was asked to drop after the newest answer. */
  readonly leftOut?: number | undefined
  /** Ignores answers that report more than the largest window. */
  readonly window?: number | undefined
}

export type ContextSize = {
  readonly tokens: number
  readonly reported: number
  readonly estimated: number
  readonly source: 'usage' | 'usage+estimate' | 'estimate'
  /** Subtracted because it was removed after the answer. Negative if something came back. */
  readonly freed?: number
  readonly anchorUuid?: string
}

/** The default model is the one of the newest answer. Images are scaled only if a model is given. */
export function contextSize(messages: readonly ViewMessage[], given: SizeOptions = {}): ContextSize {
  const anchor = findAnchor(messages, given)
  const options = { ...given, model: given.model ?? modelOf(messages) }
  const { overhead = 0, leftOut = 0, trusted } = options
  const tokensOf = (some: readonly ViewMessage[]) => scaled(measureAll(some, given), options)
  if (!anchor) {
    const estimated = withMargin(Math.max(0, tokensOf(messages) - leftOut) + overhead)
    return { tokens: estimated, reported: 0, estimated, source: 'estimate' }
  }
  const { usage, pieces, after, newest } = anchor
  const uuid = pieces[0]?.uuid
  const counted = contextTokens(usage)
  const freed = (trusted?.get(newest) ?? 0) + leftOut
  const left = () => tokensOf(messages.slice(0, newest + 1)) + overhead - leftOut
  const reported = freed > 0 ? afterRemoval(counted, freed, left()) : counted
  // Clients up to early 2026 stored the output count from the start of the stream (1 to 10).
  const isStub = usage.output <= 10 && measureAll(pieces, given).text > 200
  // No answer has counted the messages that an undo restored.
  const estimated = withMargin(tokensOf(isStub ? [...after, ...pieces] : after)) + Math.max(0, -freed)
  return {
    tokens: reported + estimated,
    reported,
    estimated,
    source: estimated > 0 ? 'usage+estimate' : 'usage',
    ...(freed === 0 ? {} : { freed: freed > 0 ? counted - reported : freed }),
    ...(uuid === undefined ? {} : { anchorUuid: uuid }),
  }
}

/** Sizes are reported, but removals are estimated. Never subtracts a larger share than the estimate alone would. */
function afterRemoval(size: number, gone: number, left: number): number {
  const share = gone / (gone + Math.max(0, left))
  return Math.round(Math.max(size - gone, size * (1 - share)))
}

function measureAll(messages: readonly ViewMessage[], options: SizeOptions): Measure {
  const { measure = ({ content }, how) => measureContent(content, how) } = options
  return messages.reduce((sum, message) => addMeasures(sum, measure(message, options)), nothing)
}

/** No model has a larger window, so a server that reports more is wrong. */
const maxWindow = 2_000_000

function usableUsage({ role, usage }: ViewMessage, window = 0): Usage | undefined {
  if (role !== 'assistant' || !usage) return undefined
  const tokens = contextTokens(usage)
  return tokens > 0 && tokens <= Math.max(window, maxWindow) ? usage : undefined
}

/** The answers with valid usage, and the tokens removed from their context since then. */
export function freshAnswers(messages: readonly ViewMessage[], options: SizeOptions) {
  const isFresh = freshness(messages, options)
  return messages.flatMap((message, index) => {
    const usage = isFresh(message, index) ? usableUsage(message, options.window) : undefined
    return usage ? [{ index, usage, freed: options.trusted?.get(index) ?? 0 }] : []
  })
}

/** The newest answer with valid usage (it may span several messages), and every later message that is not part of it. */
function findAnchor(messages: readonly ViewMessage[], options: SizeOptions) {
  const isFresh = freshness(messages, options)
  const usageAt = (message: ViewMessage, index: number) =>
    isFresh(message, index) ? usableUsage(message, options.window) : undefined
  const newest = messages.findLastIndex((message, index) => usageAt(message, index) !== undefined)
  const answer = messages[newest]
  if (!answer) return undefined
  const isAnswer = ({ role }: ViewMessage) => role === 'assistant'
  const isPiece = (message: ViewMessage) =>
    message === answer ||
    (isAnswer(message) && message.messageId !== undefined && message.messageId === answer.messageId)
  // Tool results may come between the parts of one answer; another answer may not.
  const other = messages.findLastIndex((message, index) => index < newest && isAnswer(message) && !isPiece(message))
  const first = other + 1 + messages.slice(other + 1).findIndex(isPiece)
  const since = messages.slice(first)
  // If an answer has two reports, the larger one is final; if they are equal, the later one.
  const usage = since
    .map((message, offset) => (isPiece(message) ? usageAt(message, first + offset) : undefined))
    .reduce((known, next) => (next && !(known && contextTokens(known) > contextTokens(next)) ? next : known), undefined)
  const after = since.filter((message) => !isPiece(message))
  return usage && { usage, newest, pieces: since.filter(isPiece), after }
}

/** Whether usage is valid. A summary invalidates usage before it, and that of older messages kept after it. */
function freshness(messages: readonly ViewMessage[], { trusted }: SizeOptions) {
  if (trusted) return (_: ViewMessage, index: number): boolean => trusted.has(index)
  const last = messages.findLastIndex(({ origin }) => origin === 'summary')
  const times = messages.slice(0, last + 1).map(({ origin, time }) => (origin === 'summary' ? time : undefined))
  const newest = Math.max(...times.filter((time) => time !== undefined))
  return ({ time }: ViewMessage, index: number): boolean => index > last && (time === undefined || time >= newest)
}

/** The model of the newest answer that is not synthetic. */
export function modelOf(messages: readonly ViewMessage[]): string | undefined {
  return messages.findLast(({ role, model }) => role === 'assistant' && model !== undefined && model !== '<synthetic>')
    ?.model
}

/**
 * Converts between our estimate of a context and the size that the provider reports. An estimate is off by a factor (the
 * tokenizer) and by a constant (what the client sends besides the messages); the answers of the conversation show both. Estimates
 * include the system prompt and tools, without a margin.
 */
export type SizeScale = {
  /** Reported tokens per estimated token. 1 until the provider has reported something. */
  readonly perToken: number
  readonly toReported: (estimated: number) => number
  readonly toEstimated: (reported: number) => number
}

/** `size` must be the size of these messages with the same options. */
export function sizeScale(
  messages: readonly ViewMessage[],
  { size, ...given }: SizeOptions & { readonly size: ContextSize },
): SizeScale {
  const { overhead = 0, leftOut = 0 } = given
  const estimates = prefixEstimates(messages, given)
  const estimated = Math.max(1, (estimates.at(-1) ?? 0) + overhead - leftOut)
  if (size.source === 'estimate') return { ...proportional({ estimated, reported: size.tokens }), perToken: 1 }
  const now = { estimated, reported: size.reported + withoutMargin(size.estimated) }
  const smallest = freshAnswers(messages, given)
    .map(({ index, usage, freed }): Comparison => {
      const reported = convertedTokens(contextTokens(usage), { from: messages[index]?.model, to: given.model })
      return { estimated: (estimates[index] ?? 0) + overhead + freed, reported }
    })
    .reduce((least, point) => (point.estimated < least.estimated ? point : least), now)
  return (now.estimated - smallest.estimated >= minSpread && between(smallest, now)) || proportional(now)
}

/** If two contexts differ by less, text that the client does not record outweighs the messages. */
const minSpread = 2_000
/** A slope outside these limits has another cause: the server dropped something, or the figures are wrong. */
const [minSlope, maxSlope] = [0.5, 2]

/** The line through both points. */
function between(small: Comparison, large: Comparison): SizeScale | undefined {
  const slope = (large.reported - small.reported) / (large.estimated - small.estimated)
  if (!(slope >= minSlope && slope <= maxSlope)) return undefined
  // A client never sends less than the messages. A line that is negative at zero is valid only down to the smaller point.
  const below = small.reported < slope * small.estimated ? small : undefined
  return {
    perToken: slope,
    toReported: (estimated) =>
      below && estimated < below.estimated
        ? proportional(below).toReported(estimated)
        : Math.round(small.reported + slope * (estimated - small.estimated)),
    toEstimated: (reported) =>
      below && reported < below.reported
        ? proportional(below).toEstimated(reported)
        : Math.floor(small.estimated + (reported - small.reported) / slope),
  }
}

function proportional({ estimated, reported }: Comparison): SizeScale {
  return {
    perToken: reported / estimated,
    toReported: (tokens) => Math.round((tokens * reported) / estimated),
    toEstimated: (tokens) => Math.floor((tokens * estimated) / reported),
  }
}

/** The estimated size up to and including each message. */
function prefixEstimates(messages: readonly ViewMessage[], options: SizeOptions): readonly number[] {
  const { measure = ({ content }: ViewMessage) => measureContent(content, options) } = options
  let sum = nothing
  return messages.map((message) => {
    sum = addMeasures(sum, measure(message, options))
    return scaled(sum, options)
  })
}

/** A manual compaction that frees less is not worth the details it loses. */
export const minFreed = 0.1
export const freesTooLittle = 'It would free less than a tenth of the context'
