// The size of a view that was edited after its newest answer, whose usage still counts what is gone.
import type { ViewMessage } from '../message/message.ts'
import { type ContextSize, contextSize, modelOf, type SizeOptions } from '../tokens/context-size.ts'
import { convertedTokens, withMargin } from '../tokens/estimate/counting.ts'
import { type SizeScale, sizeScale } from '../tokens/size-scale.ts'
import type { View } from '../transcript/view/fold.ts'
import { serverCleared } from './server-edits.ts'
import { createWeigher } from './weigher.ts'

export function viewSize(view: View, options: SizeOptions = {}): ContextSize {
  const size = contextSize(view.messages, { ...options, trusted: view.trusted })
  const { reduced } = view
  const isReported = size.anchorUuid !== undefined && !reduced?.uuids.has(size.anchorUuid)
  if (!reduced || isReported) return size.source === 'estimate' ? less(size, serverCleared(view), options) : size
  return sinceReduction(size, view, { ...options, reduced })
}

/** How estimates of a view relate to what the provider reports; `size` is that of the view. */
export function viewScale(view: View, options: SizeOptions & { readonly size: ContextSize }): SizeScale {
  // What the server leaves out is in our estimates and not in its reports.
  const isCleared = view.edits.some(({ edit }) => edit.type === 'server-cleared')
  return sizeScale(view.messages, { ...options, trusted: isCleared ? new Map() : view.trusted })
}

type Reduced = { readonly reduced: NonNullable<View['reduced']> }

/** No answer has reported the size since the newest reduction: what that one left, or at most what it began with, counts. */
function sinceReduction(size: ContextSize, view: View, { reduced, ...options }: SizeOptions & Reduced): ContextSize {
  const { before, after, model, uuids } = reduced
  const since = view.sources.flatMap(({ pieces }) => pieces.filter(({ uuid }) => !uuids.has(uuid ?? '')))
  const added = () => contextSize(since, { ...options, overhead: 0, leftOut: 0, trusted: new Map() }).tokens
  if (after !== undefined) {
    const left = convertedTokens(after, { from: model, to: options.model }) - (options.leftOut ?? 0)
    const tokens = Math.max(0, left) + added()
    return { tokens, reported: 0, estimated: tokens, source: 'estimate' }
  }
  const own = size.source === 'estimate' ? less(size, serverCleared(view), options) : size
  const most = own.tokens <= before ? own.tokens : before + added()
  if (own.tokens <= most) return own
  const reported = Math.min(own.reported, most)
  return { ...own, tokens: most, reported, estimated: most - reported }
}

/** As above, if the view that the answer was given on is known: what it reported, minus what is gone since. */
export function editedSize(answered: View, now: View, options: SizeOptions = {}): ContextSize {
  const known = viewSize(now, options)
  if (known.source === 'estimate' && now.reduced?.after !== undefined) return known
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
