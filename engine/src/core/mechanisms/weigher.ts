// Weighs blocks and messages in the tokens of a model and remembers the weights: the same conversation is planned before
// each request, and reading all of its text again would take longer than everything else.
import { type Block, blocksOf, type Content } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import {
  addMeasures,
  type Measure,
  type Measuring,
  measureBlock,
  measureContent,
  nothing,
} from '../tokens/estimate/blocks.ts'
import { type Counting, scaled } from '../tokens/estimate/counting.ts'

export type Weigher = {
  /** Of the calibration it weighs with. */
  readonly factor: number
  /** Not rounded, so that sums agree with countTokens over the same blocks. Each block is weighed once. */
  readonly block: (block: Block) => number
  readonly content: (content: Content) => number
  readonly message: (message: Message) => number
  /** Not scaled yet, and possibly with another estimator or model than the weigher's. */
  readonly measured: (message: Message, how: Measuring) => Measure
  /** What countTokens says of these messages. */
  readonly tokens: (messages: readonly Message[], counting: Counting) => number
  /** What `find` says of a thing that does not change, such as a view, found out once. */
  readonly once: <K extends object, T>(find: (thing: K) => T, thing: K) => T
}

/** Keep one for each conversation, as long as the counting stays the same. */
export function createWeigher(counting: Counting = {}): Weigher {
  const findings = new Map<unknown, WeakMap<object, unknown>>()
  const once = <K extends object, T>(find: (thing: K) => T, thing: K): T => {
    let known = findings.get(find)
    if (!known) {
      known = new WeakMap()
      findings.set(find, known)
    }
    const found = known.get(thing)
    if (found !== undefined || known.has(thing)) return found as T
    const fresh = find(thing)
    known.set(thing, fresh)
    return fresh
  }
  const strings = new Map<string, number>()
  const weigh = (block: Block): number => scaled(measureBlock(block, counting), counting)
  const block = createWeights(weigh)
  const content = (given: Content): number => {
    if (typeof given !== 'string') return blocksOf(given).reduce((sum, item) => sum + block(item), 0)
    const tokens = strings.get(given) ?? blocksOf(given).reduce((sum, item) => sum + weigh(item), 0)
    strings.set(given, tokens)
    return tokens
  }
  const measures = new Map<string, WeakMap<Message, Measure>>()
  const measured = (message: Message, how: Measuring): Measure => {
    const key = `${how.estimator} ${how.model}`
    const known = measures.get(key) ?? new WeakMap<Message, Measure>()
    measures.set(key, known)
    const measure = known.get(message) ?? measureContent(message.content, how)
    known.set(message, measure)
    return measure
  }
  const tokens = (messages: readonly Message[], how: Counting): number =>
    Math.round(
      scaled(
        messages.reduce((sum, message) => addMeasures(sum, measured(message, how)), nothing),
        how,
      ),
    )
  const message = (given: Message): number => content(given.content)
  const factor = counting.calibration?.factor ?? 1
  return { factor, block, content, message, measured, tokens, once }
}

/**
 * Weighs each thing once without keeping it alive. The map holds small integers, indices into a list of weights: a
 * WeakMap with a hundred thousand values on the heap, which fractions are, makes a full garbage collection take seconds.
 */
function createWeights<T extends object>(weigh: (thing: T) => number): (thing: T) => number {
  const places = new WeakMap<T, number>()
  let weights = new Float64Array(256)
  let count = 0
  return (thing) => {
    const place = places.get(thing)
    if (place !== undefined) return weights[place] ?? 0
    const weight = weigh(thing)
    if (count === weights.length) {
      const larger = new Float64Array(count * 2)
      larger.set(weights)
      weights = larger
    }
    weights[count] = weight
    places.set(thing, count++)
    return weight
  }
}
