// Weighs blocks and contents in the tokens of a model, and remembers what it has weighed: planning looks at the same
// long results before each request.
import { type Block, blocksOf, type Content } from '../message/block.ts'
import { measureBlock } from '../tokens/blocks.ts'
import { type Counting, scaled } from '../tokens/counting.ts'

export type Weigher = {
  /** Not rounded, so that sums agree with countTokens over the same blocks. */
  readonly block: (block: Block) => number
  readonly content: (content: Content) => number
}

/** To be kept as long as the conversation, with the same counting. */
export function createWeigher(counting: Counting = {}): Weigher {
  const known = new WeakMap<Block, number>()
  const block = (given: Block): number => {
    const before = known.get(given)
    if (before !== undefined) return before
    const tokens = scaled(measureBlock(given, counting), counting)
    known.set(given, tokens)
    return tokens
  }
  const strings = new Map<string, number>()
  const text = (given: string): number => {
    const before = strings.get(given)
    if (before !== undefined) return before
    const tokens = blocksOf(given).reduce((sum, item) => sum + block(item), 0)
    if (given.length < longestRemembered) strings.set(given, tokens)
    return tokens
  }
  return {
    block,
    content: (content) =>
      typeof content === 'string' ? text(content) : blocksOf(content).reduce((sum, item) => sum + block(item), 0),
  }
}

/** Short texts recur (the text in the place of a result); long ones would only be held in memory. */
const longestRemembered = 200
