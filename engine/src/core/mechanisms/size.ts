// The size of a view that was edited after its newest answer, whose usage still counts what is gone.
import type { ViewMessage } from '../message/message.ts'
import { type ContextSize, contextSize, modelOf, type SizeOptions } from '../tokens/context-size.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import type { View } from '../transcript/view/fold.ts'
import { serverCleared } from './server-edits.ts'
import { createWeigher } from './weigher.ts'

export function viewSize(view: View, options: SizeOptions = {}): ContextSize {
  const size = contextSize(view.messages, { ...options, trusted: view.trusted })
  return noLargerThanBefore(size.source === 'estimate' ? less(size, serverCleared(view), options) : size, view, options)
}

/** A reduction makes nothing larger: an estimate with its margin is limited to the last report plus what came since. */
function noLargerThanBefore(size: ContextSize, { reduced, sources }: View, options: SizeOptions): ContextSize {
  const isGuess = size.anchorUuid === undefined || reduced?.uuids.has(size.anchorUuid)
  if (!reduced || !isGuess || size.tokens <= reduced.tokens) return size
  const since = sources.flatMap(({ pieces }) => pieces.filter(({ uuid }) => !reduced.uuids.has(uuid ?? '')))
  const most = reduced.tokens + contextSize(since, { ...options, overhead: 0, leftOut: 0, trusted: new Map() }).tokens
  if (size.tokens <= most) return size
  const reported = Math.min(size.reported, most)
  return { ...size, tokens: most, reported, estimated: most - reported }
}

/** As above, if the view that the answer was given on is known: what it reported, minus what is gone since. */
export function editedSize(answered: View, now: View, options: SizeOptions = {}): ContextSize {
  const known = viewSize(now, options)
  const base = answered === now ? known : viewSize(answered, options)
  if (known.anchorUuid !== undefined && known.anchorUuid === base.anchorUuid) return known
  const [before, after] = anchors(answered, now, base.anchorUuid)
  if (before < 0 || after < 0) return known
  const weigher = createWeigher({ ...options, model: options.model ?? modelOf(now.messages) })
  const weight = ({ messages }: View, last: number) =>
    messages.slice(0, last + 1).reduce((sum, message) => sum + weigher.message(message), 0)
  // What follows the answer is estimated as it is now.
  const freed = Math.round(weight(answered, before) - weight(now, after))
  const size = contextSize(now.messages, { ...options, trusted: new Map([[after, freed]]) })
  return size.source === 'estimate' ? known : size
}

/** Where the answer whose usage counts is in both views; its first piece may be gone with its thinking. */
function anchors(answered: View, now: View, uuid: string | undefined): readonly [number, number] {
  const before = uuid === undefined ? -1 : answered.messages.findIndex((message) => message.uuid === uuid)
  const id = answered.messages[before]?.messageId
  const isIt = (message: ViewMessage) =>
    message.role === 'assistant' && (message.uuid === uuid || (id !== undefined && message.messageId === id))
  return [before, before < 0 ? -1 : now.messages.findIndex(isIt)]
}

/** Of an estimate. System prompt and tools always stay, whatever the server says it left out. */
function less(size: ContextSize, tokens: number, { overhead = 0 }: SizeOptions): ContextSize {
  if (tokens <= 0) return size
  const estimated = Math.max(size.estimated - tokens, Math.min(size.estimated, withMargin(overhead)))
  return { ...size, tokens: estimated, estimated, freed: size.estimated - estimated }
}
