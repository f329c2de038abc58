// Makes a request that is too large sendable: removes images and documents, oldest first, and shortens tool results that no
// answer has seen yet. The model would request a result that it never saw again and again, so it is neither cleared nor
// summarized. Pinned entries keep their images.
import { mediaLimit, modelFacts } from '../catalog/models.ts'
import { shortenResults } from '../mechanisms/shorten.ts'
import type { Weigher } from '../mechanisms/weigher.ts'
import { defined } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { Tried } from '../ports/events.ts'
import type { ModelFailure } from '../ports/model.ts'
import { type Reduction, type Runtime, writeReduction } from '../session/runtime.ts'
import { targetShare } from '../session/settings.ts'
import type { Edit } from '../transcript/format/edits.ts'
import { mediaIn, withoutMedia } from '../transcript/view/edited.ts'
import type { View } from '../transcript/view/fold.ts'

/** Removes more than necessary, so that the next image does not break the cache again. */
const shareLeft = 0.8

/** For a request that would hold more than the API accepts; undefined when it would not. A document counts as one page. */
export function mediaOverLimit(view: View, weigher: Weigher, model: string): Reduction | undefined {
  return oldestMedia(view, weigher, mediaLimit(modelFacts(model)))
}

/** For a refused request: down to the limit that the provider named, or all but those of the newest entry. */
export function mediaRefused(view: View, weigher: Weigher, { media }: ModelFailure): Reduction | undefined {
  // We may count less than the limit and still be refused: the provider counts the pages of documents.
  const counted = media && oldestMedia(view, weigher, media.limit)
  if (counted) return counted
  const { free } = piecesWithMedia(view)
  return removal(weigher, { going: free.length > 1 ? free.slice(0, -1) : free })
}

function oldestMedia(view: View, weigher: Weigher, most: number): Reduction | undefined {
  const { all, free } = piecesWithMedia(view)
  const pinned = countIn(all) - countIn(free)
  if (countIn(all) <= most) return undefined
  const target = Math.floor(most * shareLeft)
  let left = countIn(free)
  const from = free.findIndex(({ content }, at) => {
    const isLeft = pinned + left <= target || at === free.length - 1
    if (!isLeft) left -= mediaIn(content)
    return isLeft
  })
  // The newest entry alone may hold too many.
  const keep = Math.max(0, most - pinned)
  const last = free.at(-1)
  if (!last || mediaIn(last.content) <= keep) return removal(weigher, { going: free.slice(0, from) })
  return removal(weigher, { going: free, keep })
}

type Pieces = readonly ViewMessage[]

function piecesWithMedia(view: View): { readonly all: Pieces; readonly free: Pieces } {
  const pins = new Set(view.pins)
  const all = view.sources.flatMap((source) => source.pieces).filter(({ content }) => mediaIn(content) > 0)
  return { all, free: all.filter(({ uuid }) => uuid !== undefined && !pins.has(uuid)) }
}

function countIn(pieces: Pieces): number {
  return pieces.reduce((sum, { content }) => sum + mediaIn(content), 0)
}

/** `keep` is how many the last of the pieces keeps. */
function removal(
  weigher: Weigher,
  { going, keep }: { readonly going: Pieces; readonly keep?: number },
): Reduction | undefined {
  if (going.length === 0) return undefined
  const freed = going.reduce((sum, piece, at) => {
    const left = withoutMedia(piece, at === going.length - 1 ? keep : 0)
    return sum + weigher.content(piece.content) - weigher.content(left.content)
  }, 0)
  const uuids = going.flatMap(({ uuid }) => uuid ?? [])
  const edit: Edit = {
    type: 'clear-media',
    uuids,
    ...defined({ keep }),
    mechanism: 'strip-media',
    reason: 'the request was too large',
  }
  return { edits: [edit], freed: Math.max(0, Math.round(freed)) }
}

/** Of the target of a compaction; the rest is for the summary. */
const unseenShare = 0.5

/** Shortens results that no answer has seen. Returns what was done. */
export function shortenUnseen(runtime: Runtime): readonly Tried[] {
  const { conversation, gauge, settings, ports } = runtime
  const view = conversation.view()
  const situation = gauge.situation(view)
  const { size, autoCompactThreshold } = situation.explanation
  const room = autoCompactThreshold.value * targetShare(settings) * unseenShare
  const { name: mechanism, plan } = shortenResults({ room })
  const planned = plan(view, situation)
  if (planned.type === 'declined' || planned.outcome.type !== 'edits') return []
  const { freed, items, outcome } = planned
  writeReduction(runtime, { edits: outcome.edits, freed })
  const results = items.length
  const sizes = { tokensBefore: size.tokens, tokensAfter: gauge.size().tokens }
  ports.emit({ type: 'micro-compacted', mechanism, results, ...sizes })
  return [{ mechanism, outcome: 'done', why: `shortened ${results}, freed ${freed} tokens` }]
}
