// The same conversation, put together differently: some frameworks merge the steps of a run into one answer with all calls
// and one message with all results when the run is over. What was said is the same, so nothing has to be rewound.
import { isBlank, isThinking } from '../../core/message/block.ts'
import { type Comparable, commonPrefix, keyOf } from './converter.ts'

/** How many of the given messages say what those before said, in whatever grouping; undefined if they say something else. */
export function regroupedEnd(before: readonly Comparable[], given: readonly Comparable[]): number | undefined {
  const same = commonPrefix(before, given)
  const left = tally(before.slice(same))
  for (let at = same; at < given.length && left.size > 0; at++) {
    for (const key of keysIn(given[at])) {
      const count = left.get(key)
      if (count === undefined) return undefined
      if (count === 1) left.delete(key)
      else left.set(key, count - 1)
    }
    if (left.size === 0) return at + 1
  }
  return left.size === 0 ? same : undefined
}

function tally(messages: readonly Comparable[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const message of messages) for (const key of keysIn(message)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** Without thinking, which frameworks drop when they merge. */
function keysIn(message: Comparable | undefined): readonly string[] {
  if (!message) return []
  return message.blocks.flatMap((block) =>
    isThinking(block) || isBlank(block) ? [] : [`${message.role} ${keyOf(block)}`],
  )
}
