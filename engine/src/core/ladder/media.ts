// Removes images and documents from the view when a request would hold too many, or was refused for that: oldest first.
// Pinned entries keep theirs.

import { mediaLimit, modelFacts } from '../catalog/models.ts'
import type { Weigher } from '../mechanisms/weigher.ts'
import { defined } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { ModelFailure } from '../ports/model.ts'
import type { Reduction } from '../session/runtime.ts'
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

type Piece = ViewMessage

function piecesWithMedia(view: View): { readonly all: readonly Piece[]; readonly free: readonly Piece[] } {
  if (!view.messages.some(({ content }) => mediaIn(content) > 0)) return { all: [], free: [] }
  const pins = new Set(view.pins)
  const all = view.sources.flatMap((source) => source.pieces).filter(({ content }) => mediaIn(content) > 0)
  return { all, free: all.filter(({ uuid }) => uuid !== undefined && !pins.has(uuid)) }
}

function countIn(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { content }) => sum + mediaIn(content), 0)
}

/** `keep` is how many the last of the pieces keeps. */
function removal(
  weigher: Weigher,
  { going, keep }: { readonly going: readonly Piece[]; readonly keep?: number },
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
