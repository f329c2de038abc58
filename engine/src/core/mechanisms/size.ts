// The size of a view that was edited after its newest answer: the usage of that answer still counts what has gone.
import { type ContextSize, contextSize, type SizeOptions } from '../tokens/context-size.ts'
import type { View } from '../transcript/fold.ts'
import { serverCleared } from './server-cleared.ts'

export type ViewSizeOptions = SizeOptions & {
  /** What mechanisms freed since the newest answer, where the edits do not say so themselves. */
  readonly freedSinceAnswer?: number | undefined
}

export function viewSize(view: View, options: ViewSizeOptions = {}): ContextSize {
  const freed = options.freedSinceAnswer ?? view.freed ?? 0
  if (freed > 0) {
    const size = contextSize(view.messages, { ...options, freshFrom: 0 })
    if (size.source !== 'estimate') return less(size, freed)
  }
  const size = contextSize(view.messages, { freshFrom: view.freshFrom, ...options })
  return size.source === 'estimate' ? less(size, serverCleared(view)) : size
}

function less(size: ContextSize, tokens: number): ContextSize {
  if (tokens <= 0) return size
  const reported = Math.max(0, size.reported - tokens)
  const estimated = Math.max(0, size.estimated - (tokens - (size.reported - reported)))
  return { ...size, tokens: reported + estimated, reported, estimated }
}
