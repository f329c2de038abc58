// Snip: a stretch that the user or the model named leaves the view, one line stands in its place. The stretch grows to
// whole rounds so that no pair is split; what is pinned stays; the originals stay in the transcript.
import { widened } from '../message/rounds.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { View } from '../transcript/view/fold.ts'
import {
  type Declined,
  declined,
  type Plan,
  type PlannedItem,
  type PlanningMechanism,
  type Situation,
} from './mechanism.ts'
import { sums } from './micro/clearing.ts'
import { boundBehind, lastWritten, type Part, partsOf, segmentsOf, unthink, weightOf } from './ranges.ts'

const name = 'snip'

export type SnipInput = {
  /** The first and the last entry to go, in either order. */
  readonly from: string
  readonly to: string
  /** One line; a count of what is gone when not given. */
  readonly marker?: string
}

export function snip(input: SnipInput): PlanningMechanism {
  return { name, plan: (view, situation) => plan(view, situation, input) }
}

type Segment = { readonly parts: readonly Part[]; readonly marker: string; readonly item: PlannedItem }

function plan(view: View, situation: Situation, input: SnipInput): Plan | Declined {
  const parts = partsOf(view)
  const ends = [input.from, input.to].map((uuid) => parts.findIndex((part) => part.uuid === uuid))
  if (ends.some((at) => at < 0)) return notThere(view, input)
  const stretch = widened(parts, { start: Math.min(...ends), end: Math.max(...ends) + 1 })
  const all = segmentsOf(parts, stretch).map((segment) => measured(view, segment, { situation, input }))
  const segments = all.filter(({ item }) => item.frees > 0)
  const first = segments[0]
  if (!first) {
    const isPinned = parts.slice(stretch.start, stretch.end).some((part) => part.isPinned)
    return isPinned
      ? declined(name, 'range-pinned', 'What is not pinned in it weighs less than the line in its place.')
      : declined(name, 'nothing-to-do', 'It weighs less than the line that would stand in its place.')
  }
  const dropped = new Set(segments.flatMap((segment) => segment.parts))
  const bound = boundBehind(view, situation, { parts, dropped, first: first.item.message })
  if (bound.length > 0 && situation.settings.boundThinking === 'decline') {
    return declined(name, 'thinking-bound', 'The model binds its thinking to the prefix that would change.')
  }
  const items = [...segments.map(({ item }) => item), ...bound]
  return {
    type: 'planned',
    mechanism: name,
    reason: 'a stretch was named',
    items,
    ...sums(view, situation, items),
    thinking: bound.length > 0 ? 'removed' : 'untouched',
    outcome: { type: 'edits', edits: editsFor(segments, bound.length > 0) },
  }
}

function notThere(view: View, { from, to }: SnipInput): Declined {
  const known = new Set(view.sources.flatMap(({ uuids }) => uuids))
  const missing = [from, to].filter((uuid) => !known.has(uuid))
  return missing.length === 0
    ? declined(name, 'nothing-to-do', 'It has left the view already.')
    : declined(name, 'range-unknown', `Not in the view: ${missing.join(', ')}.`)
}

function measured(
  view: View,
  parts: readonly Part[],
  { situation, input }: { readonly situation: Situation; readonly input: SnipInput },
): Segment {
  const { weigher } = situation
  const { marker } = input
  const weight = weightOf(view, parts, weigher)
  const count = parts.length === 1 ? '1 entry' : `${formatNumber(parts.length)} entries`
  const line = marker ?? `[Removed from the context: ${count}, about ${formatNumber(weight)} tokens]`
  const item: PlannedItem = {
    type: 'range',
    uuids: parts.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid])),
    message: parts[0]?.at ?? 0,
    tokens: Math.round(weight),
    frees: weight - weigher.content(line),
    why: 'named to be removed',
  }
  return { parts, marker: line, item }
}

function editsFor(segments: readonly Segment[], isUnthought: boolean): readonly Edit[] {
  const drops = segments.map(({ parts, marker }): Edit => {
    const from = parts[0]?.uuid ?? ''
    return { type: 'drop-range', from, to: lastWritten(parts)?.uuid ?? from, marker, mechanism: name }
  })
  return isUnthought ? [...drops, ...unthink(segments[0]?.parts[0]?.uuid, name)] : drops
}
