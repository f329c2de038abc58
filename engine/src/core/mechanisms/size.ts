// The size of a view that was edited after its newest answer: the usage of that answer still counts what has gone.
import type { ViewMessage } from '../message/message.ts'
import { type ContextSize, contextSize, modelOf, type SizeOptions } from '../tokens/context-size.ts'
import type { View } from '../transcript/fold.ts'
import { serverCleared } from './server-cleared.ts'
import { createWeigher } from './weigher.ts'

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

/**
 * The size of a view that was edited since its newest answer, when the view that this answer was given on is at hand:
 * what the answer reported, less what has gone since, or with what has come back.
 */
export function editedSize(answered: View, now: View, options: SizeOptions = {}): ContextSize {
  // Edits that say what they freed need no comparing.
  if (now.freed !== undefined) return viewSize(now, options)
  const base = viewSize(answered, options)
  if (answered === now) return base
  const [before, after] = anchors(answered, now, base.anchorUuid)
  const size = contextSize(now.messages, { ...options, freshFrom: after })
  if (before < 0 || after < 0 || size.source === 'estimate') return viewSize(now, options)
  const weigher = createWeigher({ ...options, model: options.model ?? modelOf(now.messages) })
  const weight = ({ messages }: View, last: number) =>
    messages.slice(0, last + 1).reduce((sum, message) => sum + weigher.message(message), 0)
  // What stands behind the answer is estimated as it is now; what it reported, it reported of what stood before.
  const freed = Math.round(weight(answered, before) - weight(now, after))
  if (freed >= 0) return less(size, freed)
  return { ...size, tokens: size.tokens - freed, estimated: size.estimated - freed, source: 'usage+estimate' }
}

/** Where the answer whose usage counts stands in either view; its first piece may have left with its thinking. */
function anchors(answered: View, now: View, uuid: string | undefined): readonly [number, number] {
  const before = uuid === undefined ? -1 : answered.messages.findIndex((message) => message.uuid === uuid)
  const id = answered.messages[before]?.messageId
  const isIt = (message: ViewMessage) =>
    message.role === 'assistant' && (message.uuid === uuid || (id !== undefined && message.messageId === id))
  return [before, before < 0 ? -1 : now.messages.findIndex(isIt)]
}

/** Of what an answer reported first. */
export function less(size: ContextSize, tokens: number): ContextSize {
  if (tokens <= 0) return size
  const reported = Math.max(0, size.reported - tokens)
  const estimated = Math.max(0, size.estimated - (tokens - (size.reported - reported)))
  return { ...size, tokens: reported + estimated, reported, estimated, freed: (size.freed ?? 0) + tokens }
}
