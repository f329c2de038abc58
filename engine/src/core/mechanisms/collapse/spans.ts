// Finished spans: from something a person asked to the answer that ends it. The newest one is not finished.
import { isRequest } from '../../message/message.ts'
import { turnsOf } from '../../message/rounds.ts'
import type { View } from '../../transcript/view/fold.ts'
import { type Part, partsOf } from '../ranges.ts'
import type { Weigher } from '../weigher.ts'

export type Span = {
  readonly from: string
  readonly to: string
  readonly parts: readonly Part[]
  readonly tokens: number
}

const leastSpan = 2_000

/** Oldest first; none with anything pinned or with a summary. */
export function finishedSpans(view: View, weigher: Weigher, least: number = leastSpan): readonly Span[] {
  const parts = partsOf(view)
  const turns = turnsOf(parts, ({ origin }) => isRequest(origin)).slice(0, -1)
  return turns.flatMap(({ start, end }): readonly Span[] => {
    const own = parts.slice(start, end)
    const [first, last] = [own[0], own.at(-1)]
    if (first?.uuid === undefined || last?.uuid === undefined) return []
    const isPlain = own.every(({ isPinned, origin }) => !isPinned && origin !== 'summary')
    const isAlone = parts[start - 1]?.at !== first.at && parts[end]?.at !== last.at
    if (!isRequest(first.origin) || last.role !== 'assistant' || !isPlain || !isAlone) return []
    const tokens = own.reduce((sum, { piece }) => sum + weigher.message(piece), 0)
    return tokens < least ? [] : [{ from: first.uuid, to: last.uuid, parts: own, tokens: Math.round(tokens) }]
  })
}
