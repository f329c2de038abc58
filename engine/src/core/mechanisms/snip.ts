// Snip: replaces a range that the user or the model named with one line. It grows to whole rounds; pinned entries stay.
import { widened } from '../message/rounds.ts'
import { formatNumber } from '../tokens/figure.ts'
import { declined, type PlanningMechanism } from './mechanism.ts'
import { partsOf, planRanges, replacementOf, segmentsOf } from './ranges.ts'

export type SnipInput = {
  /** The first and the last entry to go, in either order. */
  readonly from: string
  readonly to: string
  /** One line; a count of what is gone when not given. */
  readonly marker?: string
}

export function snip({ from, to, marker }: SnipInput): PlanningMechanism {
  const name = 'snip'
  return {
    name,
    plan: (view, situation) => {
      const parts = partsOf(view)
      const ends = [from, to].map((uuid) => parts.findIndex((part) => part.uuid === uuid))
      if (ends.some((at) => at < 0)) {
        const known = new Set(view.sources.flatMap(({ uuids }) => uuids))
        const missing = [from, to].filter((uuid) => !known.has(uuid))
        return missing.length === 0
          ? declined(name, 'nothing-to-do', 'It has left the view already.')
          : declined(name, 'range-unknown', `Not in the view: ${missing.join(', ')}.`)
      }
      const stretch = widened(parts, { start: Math.min(...ends), end: Math.max(...ends) + 1 })
      const replacements = segmentsOf(parts, stretch).flatMap((segment) => {
        const count = segment.length === 1 ? '1 entry' : `${formatNumber(segment.length)} entries`
        const text = (weight: number) =>
          marker ?? `[Removed from the context: ${count}, about ${formatNumber(weight)} tokens]`
        return replacementOf(view, situation, { parts: segment, text, why: 'named to be removed' })
      })
      if (replacements.length === 0) {
        const isPinned = parts.slice(stretch.start, stretch.end).some((part) => part.isPinned)
        return isPinned
          ? declined(name, 'range-pinned', 'What is not pinned in it weighs less than the line in its place.')
          : declined(name, 'nothing-to-do', 'It weighs less than the line that would stand in its place.')
      }
      return planRanges(view, situation, {
        mechanism: name,
        reason: 'a stretch was named',
        parts,
        replacements,
        editOf: ({ text, ...range }) => ({ type: 'drop-range', ...range, marker: text, mechanism: name }),
      })
    },
  }
}
