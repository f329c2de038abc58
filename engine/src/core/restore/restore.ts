// Restores context after a compaction. Restorers run in order of importance, each within its own budget and all of them
// within a common one. The same state gives the same bytes.

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

/** In order of importance: later ones get whatever room is left. */
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

export type RestoreOptions = {
  /** In tokens, for everything together. */
  readonly budget: number
  readonly restorers?: readonly Restorer[]
}

const between = 2
/** Room is set aside for the headings of this many pieces of one restorer. */
const maxPieces = 5

export async function restoreContext(input: RestoreInput, options: RestoreOptions): Promise<Restoration> {
  const { budget, restorers = defaultRestorers } = options
  const frame = input.countTokens(contextFrame(['']))
  // The frame around all pieces is counted once; `between` rounds up what separates two of them.
  const countInside = (text: string) => input.countTokens(contextFrame([text])) - frame + between
  const pieces: RestoredPiece[] = []
  const notRestored: NotRestored[] = []
  let left = budget - frame
  for (const restorer of restorers) {
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
  // The names of what is missing count too: they go before a piece does.
  const names = missingText(notRestored)
  const isNamed = names !== undefined && countInside(`# not_restored\n${names}`) <= left
  return { tokens: budget - frame - left, pieces, notRestored: isNamed ? notRestored : [] }
}

/** A restorer that throws is a missing piece, not a failed compaction. */
function nothingOf({ kind }: Restorer, error: unknown): Restored {
  const why = error instanceof Error ? error.message : String(error)
  return { pieces: [], notRestored: [{ kind, what: kind, why }] }
}
