// Puts context back after a compaction: all restorers side by side, each inside its own budget, all of them under one.
// The same state gives the same bytes.
import { contextFrame } from '../message/reminder.ts'
import type { NotRestored, Piece, Restoration } from '../ports/restore.ts'
import { restoreFiles } from './files.ts'
import { restoreMemoryFiles, restorePlan, restoreSkills } from './from-disk.ts'
import { restoreAgents, restoreHost, restorePinned, restoreTodos, restoreTools } from './listed.ts'
import type { RestoreInput, Restorer } from './restorer.ts'

/** In the order in which they are served when the room for all is too small. */
export const defaultRestorers: readonly Restorer[] = [
  restorePinned,
  restoreTodos,
  restorePlan,
  restoreAgents,
  restoreMemoryFiles,
  restoreFiles,
  restoreSkills,
  restoreTools,
  restoreHost,
]

export type RestoreOptions = {
  /** In tokens, for everything together. */
  readonly budget: number
  readonly restorers?: readonly Restorer[]
  /** Kinds that the new context holds anyway. */
  readonly without?: readonly string[] | undefined
}

export async function restoreContext(input: RestoreInput, options: RestoreOptions): Promise<Restoration> {
  const { budget, restorers = defaultRestorers, without = [] } = options
  const brought = await Promise.all(
    restorers
      .filter(({ kind }) => !without.includes(kind))
      .map((restorer) => bring(restorer, input, Math.min(restorer.budget, budget))),
  )
  const countFramed = (text: string | undefined) => (text === undefined ? 0 : input.countTokens(contextFrame([text])))
  const pieces: Piece[] = []
  const notRestored: NotRestored[] = brought.flatMap((each) => each.notRestored)
  let names = countFramed(missingText(notRestored))
  let tokens = 0
  for (const piece of brought.flatMap((each) => each.pieces)) {
    const own = countFramed(`# ${piece.kind}\n${pieceText(piece)}`)
    if (tokens + own + names <= budget) {
      pieces.push(piece)
      tokens += own
    } else {
      const why = `it has ${piece.tokens} tokens, and the context has no room`
      notRestored.push({ kind: piece.kind, what: piece.title, why })
      names = countFramed(missingText(notRestored))
    }
  }
  return { tokens, pieces, notRestored }
}

/** A piece as it stands in the context. */
export function pieceText({ title, text }: Pick<Piece, 'title' | 'text'>): string {
  return `${title}\n${text}`
}

const mostNames = 12

/** What was not brought is named, so that nobody believes to have seen it. */
export function missingText(notRestored: readonly Pick<NotRestored, 'what' | 'why'>[]): string | undefined {
  if (notRestored.length === 0) return undefined
  return ['Not put back:', ...notRestored.slice(0, mostNames).map(({ what, why }) => `- ${what}: ${why}`)].join('\n')
}

/** A restorer that breaks is a missing piece, not a failed compaction. */
async function bring(restorer: Restorer, input: RestoreInput, room: number) {
  try {
    return await restorer.restore(input, room)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { pieces: [], notRestored: [{ kind: restorer.kind, what: restorer.kind, why }] }
  }
}
