// Takes images and documents out of the view when a request is too large in bytes: all but those of the newest entry
// that has any, or those too when there are no others. Pinned entries keep theirs.

import type { Weigher } from '../mechanisms/weigher.ts'
import { blocksOf } from '../message/block.ts'
import { hasMedia, withoutMedia } from '../transcript/edited.ts'
import type { Edit } from '../transcript/edits.ts'
import type { View } from '../transcript/fold.ts'
import { withFreed } from './compaction.ts'

/** No edit when there is nothing to take. */
export function mediaEdits(view: View, weigher: Weigher): readonly Edit[] {
  const pins = new Set(view.pins)
  const pieces = view.sources
    .flatMap((source) => source.pieces)
    .filter(({ uuid, content }) => uuid !== undefined && !pins.has(uuid) && blocksOf(content).some(hasMedia))
  const going = pieces.length > 1 ? pieces.slice(0, -1) : pieces
  if (going.length === 0) return []
  const freed = going.reduce((sum, piece) => {
    return sum + weigher.content(piece.content) - weigher.content(withoutMedia(piece).content)
  }, 0)
  const uuids = going.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid]))
  const edit: Edit = { type: 'clear-media', uuids, mechanism: 'strip-media', reason: 'the request was too large' }
  return withFreed([edit], Math.max(0, Math.round(freed)))
}
