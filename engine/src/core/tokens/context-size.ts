// How large the context is: what the latest answer reported, plus an estimate of everything that came after it.
import type { ViewMessage } from '../message/message.ts'
import { sameStart } from '../message/same-start.ts'
import { contextTokens, type Usage } from '../message/usage.ts'
import { addMeasures, type Measure, type Measuring, measureContent, nothing } from './blocks.ts'
import { type Counting, scaled, withMargin } from './counting.ts'

export type SizeOptions = Counting & {
  /**
   * The first message whose usage may be believed, by index or uuid: usage before it is older than a compact
   * boundary or than an edit that changed what it counted. A uuid that is not there means that none may.
   */
  readonly freshFrom?: number | string | undefined
  /** Estimated tokens of the system prompt and the tools: counted only while no usage includes them. */
  readonly overhead?: number | undefined
  /** Measures as measureContent does, and may remember what it has measured. */
  readonly measure?: ((message: ViewMessage, how: Measuring) => Measure) | undefined
  /** Finds as summariesIn does, and may remember what it has looked at. */
  readonly summaries?: ((messages: readonly ViewMessage[]) => Summaries) | undefined
}

/** Where the last summary stands, and when the newest was written. */
export type Summaries = { readonly last: number; readonly time: number }

export type ContextSize = {
  readonly tokens: number
  /** The part the API counted. */
  readonly reported: number
  /** The part we estimated, margin included. */
  readonly estimated: number
  readonly source: 'usage' | 'usage+estimate' | 'estimate'
  /** Taken off what was reported or estimated, since it went afterwards. */
  readonly freed?: number
  /** The first message of the answer whose usage was taken. */
  readonly anchorUuid?: string
}

/** An answer with believable usage, and what stands around it. */
export type Anchor = {
  readonly usage: Usage
  /** All pieces of the answer itself. */
  readonly own: Measure
  /** Everything after its first piece that is not a piece of it. */
  readonly after: Measure
  readonly uuid?: string | undefined
}

/** The model is that of the newest answer unless it is given; images are scaled for a given model only. */
export function contextSize(messages: readonly ViewMessage[], options: SizeOptions = {}): ContextSize {
  const anchor = findAnchor(messages, options)
  const all = anchor
    ? nothing
    : messages.reduce((sum, message) => addMeasures(sum, measureOf(message, options)), nothing)
  return sizeFrom({ anchor, all }, { ...options, model: options.model ?? modelOf(messages) })
}

/** The size from its parts. `all` is the measure of every message; it counts only where there is no anchor. */
export function sizeFrom(
  parts: { readonly anchor: Anchor | undefined; readonly all: Measure },
  options: SizeOptions,
): ContextSize {
  const { anchor, all } = parts
  if (!anchor) {
    const estimated = withMargin(scaled(all, options) + (options.overhead ?? 0))
    return { tokens: estimated, reported: 0, estimated, source: 'estimate' }
  }
  const isStub = hasStubOutput(anchor)
  const reported = contextTokens(anchor.usage)
  const estimated = withMargin(scaled(isStub ? addMeasures(anchor.after, anchor.own) : anchor.after, options))
  return {
    tokens: reported + estimated,
    reported,
    estimated,
    source: estimated > 0 ? 'usage+estimate' : 'usage',
    ...(anchor.uuid === undefined ? {} : { anchorUuid: anchor.uuid }),
  }
}

/**
 * Clients up to early 2026 stored the output count of the stream's beginning (1 to 10) with the finished answer. An
 * answer of some length that claims so few tokens is estimated like any other text.
 */
function hasStubOutput({ usage, own }: Anchor): boolean {
  return usage.output <= 10 && own.text > 200
}

function measureOf(message: ViewMessage, options: SizeOptions): Measure {
  return options.measure ? options.measure(message, options) : measureContent(message.content, options)
}

/** The usage that counts when it does: some tokens, from an assistant. Synthetic messages carry none. */
export function usableUsage(message: ViewMessage): Usage | undefined {
  return message.role === 'assistant' && message.usage && contextTokens(message.usage) > 0 ? message.usage : undefined
}

/** Of two reports on one answer the larger one is the finished one; of two equal ones the later. */
export function laterUsage(known: Usage | undefined, fresh: Usage): Usage {
  return known && contextTokens(known) > contextTokens(fresh) ? known : fresh
}

export function isPieceOf(message: ViewMessage, messageId: string | undefined): boolean {
  return messageId !== undefined && message.role === 'assistant' && message.messageId === messageId
}

function findAnchor(messages: readonly ViewMessage[], options: SizeOptions): Anchor | undefined {
  const isFresh = freshness(messages, options)
  const newest = messages.findLastIndex(
    (message, index) => usableUsage(message) !== undefined && isFresh(message, index),
  )
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
      const reported = isFresh(message, index) ? usableUsage(message) : undefined
      if (reported) usage = laterUsage(usage, reported)
    } else after = addMeasures(after, measureOf(message, options))
  }
  return usage && { usage, own, after, uuid: messages[first]?.uuid }
}

/** Pieces of one answer can stand apart, with tool results in between, but never with another answer in between. */
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

/** A summary ends the life of usage before it, and of kept messages that are older though they stand after it. */
function freshness(
  messages: readonly ViewMessage[],
  { freshFrom = 0, summaries = summariesIn }: SizeOptions,
): Freshness {
  const named = typeof freshFrom === 'string' ? messages.findIndex((message) => message.uuid === freshFrom) : freshFrom
  const from = named < 0 ? messages.length : named
  const { last, time } = summaries(messages)
  return (message, index) => index >= from && index > last && (message.time === undefined || message.time >= time)
}

function summariesIn(messages: readonly ViewMessage[]): Summaries {
  return summariesFrom(0, messages, noSummaries)
}

const noSummaries: Summaries = { last: -1, time: Number.NEGATIVE_INFINITY }

function summariesFrom(start: number, messages: readonly ViewMessage[], known: Summaries): Summaries {
  let { last, time } = known
  for (let index = start; index < messages.length; index++) {
    const message = messages[index]
    if (message?.origin !== 'summary') continue
    last = index
    time = Math.max(time, message.time ?? time)
  }
  return last === known.last ? known : { last, time }
}

/** For a conversation that grows: looks at what is new. */
export function createSummaries(): (messages: readonly ViewMessage[]) => Summaries {
  let seen: readonly ViewMessage[] = []
  let known = noSummaries
  return (messages) => {
    const same = sameStart(seen, messages)
    // One that has gone may have been the newest of all.
    const isKept = known.last < same
    known = summariesFrom(isKept ? same : 0, messages, isKept ? known : noSummaries)
    seen = messages
    return known
  }
}

/** The model of an answer, when it names a real one. */
export function realModel({ role, model }: ViewMessage): string | undefined {
  return role === 'assistant' && model !== '<synthetic>' ? model : undefined
}

/** The model of the newest answer that names a real one. */
export function modelOf(messages: readonly ViewMessage[]): string | undefined {
  return messages.findLast((message) => realModel(message) !== undefined)?.model
}
