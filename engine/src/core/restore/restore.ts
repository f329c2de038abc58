// Puts context back after a compaction: one restorer after another, the most needed first, each inside its own budget, all
// of them under one. The same state gives the same bytes.

import { contextFrame } from '../message/reminder.ts'
import type { NotRestored, Piece, Restoration } from '../ports/restore.ts'
import { groupBy } from '../text/group-by.ts'
import { restoreFiles } from './files.ts'
import { restoreMemoryFiles, restorePlan } from './from-disk.ts'
import { restoreAgents, restoreHost, restorePinned, restoreTodos, restoreTools } from './listed.ts'
import type { RestoreInput, Restorer } from './restorer.ts'
import { restoreRunningSkill, restoreSkills } from './skills.ts'

/** The most needed first: what comes late gets what room is left. */
export const defaultRestorers: readonly Restorer[] = [
  restorePinned,
  restorePlan,
  restoreRunningSkill,
  restoreMemoryFiles,
  restoreTodos,
  restoreFiles,
  restoreAgents,
  restoreHost,
  restoreSkills,
  restoreTools,
]

export type RestoreOptions = {
  /** In tokens, for everything together. */
  readonly budget: number
  readonly restorers?: readonly Restorer[]
  /** Kinds that the new context holds anyway. */
  readonly without?: readonly string[] | undefined
}

const between = 2
/** Of one restorer, as far as room is set aside for their headings. */
const mostPieces = 5

export async function restoreContext(input: RestoreInput, options: RestoreOptions): Promise<Restoration> {
  const { budget, restorers = defaultRestorers, without = [] } = options
  const frame = input.countTokens(contextFrame(['']))
  // Inside the frame that all of them share; what lies between two texts is rounded up.
  const countInside = (text: string) => input.countTokens(contextFrame([text])) - frame + between
  const pieces: { readonly piece: Piece; readonly tokens: number }[] = []
  const notRestored: NotRestored[] = []
  let tokens = 0
  const leaveOut = ({ kind, title, tokens: own }: Piece) =>
    notRestored.push({ kind, what: title, why: `it has ${own} tokens, and the context has no room` })
  for (const restorer of restorers) {
    if (without.includes(restorer.kind)) continue
    const left = budget - frame - tokens - mostPieces * (countInside(`# ${restorer.kind}\n`) + between)
    const brought = await bring(restorer, input, Math.max(0, Math.min(restorer.budget, left)))
    notRestored.push(...brought.notRestored)
    for (const piece of brought.pieces) {
      const own = countInside(`# ${piece.kind}\n${pieceText(piece)}`)
      if (frame + tokens + own > budget) leaveOut(piece)
      else {
        pieces.push({ piece, tokens: own })
        tokens += own
      }
    }
  }
  // What is missing is named inside the budget too: names give way before a piece does.
  const fits = (names: readonly NotRestored[]) => {
    const text = missingText(names)
    return frame + tokens + (text === undefined ? 0 : countInside(`# not_restored\n${text}`)) <= budget
  }
  return { tokens, pieces: pieces.map(({ piece }) => piece), notRestored: namesWithin(notRestored, fits) }
}

/** All of them, or the first ones and how many more there are; none where not one fits. */
function namesWithin(
  all: readonly NotRestored[],
  fits: (names: readonly NotRestored[]) => boolean,
): readonly NotRestored[] {
  if (fits(all)) return all
  for (let count = Math.min(all.length - 1, mostNames); count > 0; count--) {
    const rest = { kind: 'names', what: `${all.length - count} more`, why: 'there is no room to name them' }
    const names = [...all.slice(0, count), rest]
    if (fits(names)) return names
  }
  return []
}

/** A piece as it stands in the context. */
export function pieceText({ title, text }: Pick<Piece, 'title' | 'text'>): string {
  return `${title}\n${text}`
}

const mostNames = 12

/** What was not brought is named, so that nobody believes to have seen it; once for each reason. */
export function missingText(notRestored: readonly Pick<NotRestored, 'what' | 'why'>[]): string | undefined {
  if (notRestored.length === 0) return undefined
  const reasons = groupBy(notRestored.slice(0, mostNames), ({ why }) => why)
  const names = [...reasons].map(([why, missing]) => `- ${missing.map(({ what }) => what).join(', ')}: ${why}`)
  const more = notRestored.length - mostNames
  return ['Not put back:', ...names, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
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
