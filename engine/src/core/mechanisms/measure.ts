// Measures a view, its messages and its turns. Weights are cached, because reading all text again before each request would take
// longer than everything else.

import type { JsonObject } from '../message/json.ts'
import { type Block, blocksOf, type Content, type Message, type ViewMessage } from '../message/message.ts'
import {
  type ContextSize,
  contextSize,
  modelOf,
  type SizeOptions,
  type SizeScale,
  sizeScale,
} from '../tokens/context-size.ts'
import {
  addMeasures,
  type Counting,
  convertedTokens,
  type Measure,
  type Measuring,
  measureContent,
  nothing,
  scaled,
  withMargin,
} from '../tokens/estimate/counting.ts'
import { rememberedTurns, type TurnSize, turnSizes } from '../tokens/predict.ts'
import { boundaryBefore, readCompaction } from '../transcript/format/compaction-records.ts'
import type { View } from '../transcript/view/fold.ts'

/** The usage of an answer still includes what was edited away after it. */
export function viewSize(view: View, options: SizeOptions = {}): ContextSize {
  const size = contextSize(view.messages, { ...options, trusted: view.trusted })
  const { reduced } = view
  const isReported = size.anchorUuid !== undefined && !reduced?.uuids.has(size.anchorUuid)
  if (!reduced || isReported)
    return size.source === 'estimate' ? withoutTokens(size, serverCleared(view), options) : size
  return sinceReduction(size, view, { ...options, reduced })
}

/** Converts estimates of a view to reported sizes. `size` must be the size of this view. */
export function viewScale(view: View, options: SizeOptions & { readonly size: ContextSize }): SizeScale {
  // Content that the server omits is in our estimates but not in its reports.
  const isCleared = view.edits.some(({ edit }) => edit.type === 'server-cleared')
  return sizeScale(view.messages, { ...options, trusted: isCleared ? new Map() : view.trusted })
}

/** No answer has reported the size since the newest reduction, so its result counts, limited to the size before it. */
function sinceReduction(
  size: ContextSize,
  view: View,
  { reduced, ...options }: SizeOptions & { readonly reduced: NonNullable<View['reduced']> },
): ContextSize {
  const { before, after, model, uuids } = reduced
  const since = view.sources.flatMap(({ pieces }) => pieces.filter(({ uuid }) => !uuids.has(uuid ?? '')))
  const added = () => contextSize(since, { ...options, overhead: 0, leftOut: 0, trusted: new Map() }).tokens
  if (after !== undefined) {
    const left = convertedTokens(after, { from: model, to: options.model }) - (options.leftOut ?? 0)
    const tokens = Math.max(0, left) + added()
    return { tokens, reported: 0, estimated: tokens, source: 'estimate' }
  }
  const own = size.source === 'estimate' ? withoutTokens(size, serverCleared(view), options) : size
  if (own.tokens <= before) return own
  const maxTokens = before + added()
  if (own.tokens <= maxTokens) return own
  const reported = Math.min(own.reported, maxTokens)
  return { ...own, tokens: maxTokens, reported, estimated: maxTokens - reported }
}

/** Like `viewSize` if the view of the answer is known: the reported size minus what was removed since. */
export function editedSize(answered: View, now: View, options: SizeOptions = {}): ContextSize {
  const known = viewSize(now, options)
  if (known.source === 'estimate' && now.reduced?.after !== undefined) return known
  const base = answered === now ? known : viewSize(answered, options)
  if (known.anchorUuid !== undefined && known.anchorUuid === base.anchorUuid) return known
  const [before, after] = answerIndices(answered, now, base.anchorUuid)
  if (before < 0 || after < 0) return known
  const weigher = createWeigher({ ...options, model: options.model ?? modelOf(now.messages) })
  const weight = ({ messages }: View, last: number) =>
    messages.slice(0, last + 1).reduce((sum, message) => sum + weigher.message(message), 0)
  // Messages after the answer are estimated as they are now.
  const freed = Math.round(weight(answered, before) - weight(now, after))
  const size = contextSize(now.messages, { ...options, trusted: new Map([[after, freed]]) })
  return size.source === 'estimate' ? known : size
}

/** Index in both views of the answer whose usage counts. Its first part may be gone together with its thinking. */
function answerIndices(answered: View, now: View, uuid: string | undefined): readonly [number, number] {
  const before = uuid === undefined ? -1 : answered.messages.findIndex((message) => message.uuid === uuid)
  const id = answered.messages[before]?.messageId
  const isIt = (message: ViewMessage) =>
    message.role === 'assistant' && (message.uuid === uuid || (id !== undefined && message.messageId === id))
  return [before, before < 0 ? -1 : now.messages.findIndex(isIt)]
}

/** Subtracts from an estimate. The system prompt and tools always stay, even if the server claims to have omitted more. */
function withoutTokens(size: ContextSize, tokens: number, { overhead = 0 }: SizeOptions): ContextSize {
  if (tokens <= 0) return size
  const estimated = Math.max(size.estimated - tokens, Math.min(size.estimated, withMargin(overhead)))
  return { ...size, tokens: estimated, estimated, freed: size.estimated - estimated }
}

/** Tokens in the view that the model does not see. Usage excludes them; an estimate does not. */
export function serverCleared({ edits }: View): number {
  const newest = edits.findLast(({ edit }) => edit.type === 'server-cleared')?.edit
  return newest?.type === 'server-cleared' ? newest.tokens : 0
}

export type Weigher = {
  /** The factor of the calibration in use. */
  readonly factor: number
  /** Not rounded, so that sums agree with `countTokens` over the same blocks. Each block is weighed once. */
  readonly block: (block: Block) => number
  readonly content: (content: Content) => number
  readonly message: (message: Message) => number
  readonly from: (messages: readonly Message[], first: number) => number
  /** Not scaled yet, and possibly with a different estimator or model than the weigher's. */
  readonly measured: (message: Message, how: Measuring) => Measure
  readonly tokens: (messages: readonly Message[], counting: Counting) => number
  /** Computes `find` once for a thing that does not change, such as a view. */
  readonly once: <K extends object, T>(find: (thing: K) => T, thing: K) => T
}

/** Keep one per conversation as long as the counting stays the same. */
export function createWeigher(counting: Counting = {}): Weigher {
  const findings = new Map<unknown, WeakMap<object, unknown>>()
  const once = <K extends object, T>(find: (thing: K) => T, thing: K): T => {
    const known = findings.get(find) ?? new WeakMap<object, unknown>()
    findings.set(find, known)
    if (!known.has(thing)) known.set(thing, find(thing))
    return known.get(thing) as T
  }
  const strings = new Map<string, number>()
  const block = createWeights((one: Block) => scaled(measureContent([one], counting), counting))
  const content = (given: Content): number => {
    if (typeof given !== 'string') return blocksOf(given).reduce((sum, item) => sum + block(item), 0)
    const tokens = strings.get(given) ?? scaled(measureContent(given, counting), counting)
    strings.set(given, tokens)
    return tokens
  }
  const message = (given: Message): number => content(given.content)
  const from = (messages: readonly Message[], first: number): number =>
    messages.slice(Math.max(0, first)).reduce((sum, one) => sum + message(one), 0)
  const measurers = new Map<string, (message: Message) => Measure>()
  const measured = (given: Message, how: Measuring): Measure => {
    const key = `${how.estimator} ${how.model}`
    const measure = measurers.get(key) ?? ((one: Message) => measureContent(one.content, how))
    measurers.set(key, measure)
    return once(measure, given)
  }
  const tokens = (messages: readonly Message[], how: Counting): number => {
    const sum = messages.reduce((before, one) => addMeasures(before, measured(one, how)), nothing)
    return Math.round(scaled(sum, how))
  }
  const factor = counting.calibration?.factor ?? 1
  return { factor, block, content, message, from, measured, tokens, once }
}

/** Maps to indices into a list. A WeakMap with 100,000 fractions, which live on the heap, makes a GC take seconds. */
function createWeights<T extends object>(weigh: (thing: T) => number): (thing: T) => number {
  const places = new WeakMap<T, number>()
  const weights: number[] = []
  return (thing) => {
    const place = places.get(thing)
    if (place !== undefined) return weights[place] ?? 0
    const weight = weigh(thing)
    places.set(thing, weights.push(weight) - 1)
    return weight
  }
}

/**
 * The sizes of the turns of a conversation across its compactions, because each boundary of ours remembers those before it.
 * Undefined after a compaction by a client that does not record them.
 */
export function turnsIn(
  { messages }: Pick<View, 'messages'>,
  recordOf: (uuid: string) => JsonObject | undefined,
): readonly TurnSize[] | undefined {
  const summary = messages.findLast(({ origin }) => origin === 'summary')
  if (!summary) return turnSizes(messages)
  const { turns, kept } = readCompaction(boundaryBefore(summary, recordOf))
  if (!turns) return undefined
  // Kept messages belong to turns before the compaction.
  const since = messages.filter(({ uuid = '' }) => !kept.includes(uuid))
  return [...turns, ...turnSizes(since)].slice(-rememberedTurns)
}
