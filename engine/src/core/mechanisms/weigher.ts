// Weighs blocks and messages in a model's tokens and remembers the weights: reading all text again before each request
// would take longer than everything else.
import { type Block, blocksOf, type Content } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import {
  addMeasures,
  type Counting,
  type Measure,
  type Measuring,
  measureContent,
  nothing,
  scaled,
} from '../tokens/estimate/counting.ts'

export type Weigher = {
  /** Of the calibration it weighs with. */
  readonly factor: number
  /** Not rounded, so that sums agree with countTokens over the same blocks. Each block is weighed once. */
  readonly block: (block: Block) => number
  readonly content: (content: Content) => number
  readonly message: (message: Message) => number
  readonly from: (messages: readonly Message[], first: number) => number
  /** Not scaled yet, and possibly with another estimator or model than the weigher's. */
  readonly measured: (message: Message, how: Measuring) => Measure
  readonly tokens: (messages: readonly Message[], counting: Counting) => number
  /** The result of `find` for something that does not change, such as a view, computed once. */
  readonly once: <K extends object, T>(find: (thing: K) => T, thing: K) => T
}

/** Keep one per conversation while the counting stays the same. */
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

/** Maps to indices into a list: a WeakMap with 100,000 fractions, which are on the heap, makes a GC take seconds. */
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
