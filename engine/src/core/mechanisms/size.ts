// The size of a view that was edited after its newest answer: the usage of that answer still counts what has gone.
import { type ContextSize, contextSize, type SizeOptions } from '../tokens/context-size.ts'
import type { View } from '../transcript/fold.ts'
import { serverCleared } from './server-cleared.ts'

export type ViewSizeOptions = SizeOptions & {
  /** What mechanisms freed since the newest answer. Without it, usage from before the edits is not believed at all. */
  readonly freedSinceAnswer?: number | undefined
}

export function viewSize(view: View, options: ViewSizeOptions = {}): ContextSize {
  const { freedSinceAnswer: freed = 0 } = options
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
