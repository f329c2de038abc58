// Puts context back after a compaction: all restorers side by side, each inside its own budget, all of them under one.
// The same state gives the same bytes.
import { reminderOf } from '../prompts/reminder.ts'
import { restoreFiles } from './files.ts'
import { restoreMemoryFiles, restorePlan, restoreSkills } from './from-disk.ts'
import { restoreAgents, restoreHost, restorePinned, restoreTodos, restoreTools } from './listed.ts'
import type { NotRestored, Piece, RestoreInput, Restorer } from './restorer.ts'

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

export type RestoredContext = {
  /** What joins the request: one system reminder that lists the pieces. Empty when there is nothing. */
  readonly text: string
  readonly tokens: number
  readonly pieces: readonly Piece[]
  readonly notRestored: readonly NotRestored[]
}

export async function restoreContext(input: RestoreInput, options: RestoreOptions): Promise<RestoredContext> {
  const { budget, restorers = defaultRestorers, without = [] } = options
  const brought = await Promise.all(
    restorers
      .filter(({ kind }) => !without.includes(kind))
      .map((restorer) => bring(restorer, input, Math.min(restorer.budget, budget))),
  )
  const pieces: Piece[] = []
  const notRestored: NotRestored[] = brought.flatMap((each) => each.notRestored)
  for (const piece of brought.flatMap((each) => each.pieces)) {
    const text = reminderOf([...pieces, piece], namesOf(notRestored))
    if (input.countTokens(text) <= budget) pieces.push(piece)
    else
      notRestored.push({
        kind: piece.kind,
        what: piece.title,
        why: `it has ${piece.tokens} tokens, and the context has no room`,
      })
  }
  const text = fullest(pieces, notRestored, { budget, countTokens: input.countTokens })
  return { text, tokens: text === '' ? 0 : input.countTokens(text), pieces, notRestored }
}

/** Names what is missing too, as far as there is room for the names. */
function fullest(
  pieces: readonly Piece[],
  notRestored: readonly NotRestored[],
  { budget, countTokens }: { readonly budget: number; readonly countTokens: (text: string) => number },
): string {
  for (const names of [namesOf(notRestored), []]) {
    if (pieces.length === 0 && names.length === 0) return ''
    const text = reminderOf(pieces, names)
    if (countTokens(text) <= budget) return text
  }
  return ''
}

const mostNames = 12

function namesOf(notRestored: readonly NotRestored[]): readonly string[] {
  return notRestored.slice(0, mostNames).map(({ what, why }) => `${what}: ${why}`)
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
