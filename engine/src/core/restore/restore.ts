// Restores context after a compaction. Restorers run in order of importance, each within its own budget and all within a common
// one. The same state gives the same bytes.

import {
  missingText,
  type NotRestored,
  pieceText,
  type Restoration,
  type Restored,
  type RestoredPiece,
} from '../ports/restore.ts'
import { contextFrame } from '../text/neutralize.ts'
import { restoreFiles } from './files.ts'
import { restoreMemoryFiles, restorePlan } from './from-disk.ts'
import {
  type RestoreInput,
  type Restorer,
  restoreAgents,
  restoreEarlierSkills,
  restoreHost,
  restorePinned,
  restoreSkills,
  restoreTodos,
  restoreTools,
} from './restorer.ts'

/** In order of importance. Later ones get the room that is left. */
export const defaultRestorers: readonly Restorer[] = [
  restorePinned,
  restorePlan,
  restoreSkills,
  restoreMemoryFiles,
  restoreTodos,
  restoreFiles,
  restoreAgents,
  restoreEarlierSkills,
  restoreHost,
  restoreTools,
]

const between = 2
/** Reserves room for the headings of this many pieces of one restorer. */
const maxPieces = 5

/** `budget`: in tokens, for everything together. */
export async function restoreContext(
  input: RestoreInput,
  { budget }: { readonly budget: number },
): Promise<Restoration> {
  const frame = input.countTokens(contextFrame(['']))
  // Counts the frame around all pieces once. `between` rounds up the text that separates two pieces.
  const countInside = (text: string) => input.countTokens(contextFrame([text])) - frame + between
  const pieces: RestoredPiece[] = []
  const notRestored: NotRestored[] = []
  let left = budget - frame
  for (const restorer of defaultRestorers) {
    const room = left - maxPieces * (countInside(`# ${restorer.kind}\n`) + between)
    const restored = await restorer
      .restore(input, Math.max(0, Math.min(restorer.budget, room)))
      .catch((error: unknown) => nothingOf(restorer, error))
    notRestored.push(...restored.notRestored)
    for (const piece of restored.pieces) {
      const { kind, title: what, tokens } = piece
      const own = countInside(`# ${kind}\n${pieceText(piece)}`)
      if (own > left) notRestored.push({ kind, what, why: `it has ${tokens} tokens, and the context has no room` })
      else {
        pieces.push(piece)
        left -= own
      }
    }
  }
  // The list of missing items counts too and has priority over a piece.
  const names = missingText(notRestored)
  const isNamed = names !== undefined && countInside(`# not_restored\n${names}`) <= left
  return { tokens: budget - frame - left, pieces, notRestored: isNamed ? notRestored : [] }
}

/** A restorer that throws leaves a missing piece; the compaction does not fail. */
function nothingOf({ kind }: Restorer, error: unknown): Restored {
  const why = error instanceof Error ? error.message : String(error)
  return { pieces: [], notRestored: [{ kind, what: kind, why }] }
}
