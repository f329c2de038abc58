// Collapse: finished spans give way to summaries of their own, which were staged in the background. Each keeps its
// originals in the transcript and can be expanded again by undoing it.
import type { Explanation } from '../../tokens/explain.ts'
import { formatNumber } from '../../tokens/figure.ts'
import type { Edit } from '../../transcript/format/edits.ts'
import type { View } from '../../transcript/view/fold.ts'
import {
  type Declined,
  declined,
  type Plan,
  type PlannedItem,
  type PlanningMechanism,
  type Situation,
} from '../mechanism.ts'
import { sums } from '../micro/clearing.ts'
import { boundBehind, lastWritten, type Part, partsOf, unthink, weightOf } from '../ranges.ts'

const name = 'collapse'

/** A summary that waits to take the place of a span. */
export type Staged = { readonly from: string; readonly to: string; readonly text: string }

/** Shares of the effective window: where staged summaries take their places, and where the next request waits for one. */
export const commitAt = 0.9
export const waitAt = 0.95

export type CollapseState = 'idle' | 'commit' | 'wait'

export function collapseState({ size, effectiveWindow }: Explanation): CollapseState {
  const share = size.tokens / effectiveWindow.value
  return share >= waitAt ? 'wait' : share >= commitAt ? 'commit' : 'idle'
}

export function collapse(staged: readonly Staged[]): PlanningMechanism {
  return { name, plan: (view, situation) => plan(view, situation, staged) }
}

type Placed = { readonly parts: readonly Part[]; readonly text: string; readonly item: PlannedItem }

function plan(view: View, situation: Situation, staged: readonly Staged[]): Plan | Declined {
  const { explanation } = situation
  if (collapseState(explanation) === 'idle') {
    const at = formatNumber(Math.ceil(explanation.effectiveWindow.value * commitAt))
    return declined(
      name,
      'below-commit',
      `${formatNumber(explanation.size.tokens)} tokens; staged summaries are used from ${at} on.`,
    )
  }
  const parts = partsOf(view)
  const placed = staged
    .flatMap((one) => place(view, situation, { parts, staged: one }))
    .filter(({ item }) => item.frees > 0)
  const [first] = placed.toSorted((a, b) => a.item.message - b.item.message)
  if (!first) return declined(name, 'nothing-to-do', 'No staged summary is smaller than its span.')
  const dropped = new Set(placed.flatMap((one) => one.parts))
  const bound = boundBehind(view, situation, { parts, dropped, first: first.item.message })
  if (bound.length > 0 && situation.settings.boundThinking === 'decline') {
    return declined(name, 'thinking-bound', 'The model binds its thinking to the prefix that would change.')
  }
  const items = [...placed.map(({ item }) => item), ...bound]
  const edits = [...placed.map(editFor), ...(bound.length > 0 ? unthink(first.parts[0]?.uuid, name) : [])]
  return {
    type: 'planned',
    mechanism: name,
    reason: 'finished spans have summaries of their own',
    items,
    ...sums(view, situation, items),
    thinking: bound.length > 0 ? 'removed' : 'untouched',
    outcome: { type: 'edits', edits },
  }
}

/** Where a staged summary goes; nowhere when its span is not in the view as it was, or something in it was pinned. */
function place(
  view: View,
  { weigher }: Situation,
  { parts, staged }: { readonly parts: readonly Part[]; readonly staged: Staged },
): readonly Placed[] {
  const start = parts.findIndex(({ uuid }) => uuid === staged.from)
  const end = parts.findIndex(({ uuid }) => uuid === staged.to)
  const own = start < 0 || end < start ? [] : parts.slice(start, end + 1)
  if (own.length === 0 || own.some(({ isPinned }) => isPinned)) return []
  const weight = weightOf(view, own, weigher)
  const item: PlannedItem = {
    type: 'range',
    uuids: own.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid])),
    message: own[0]?.at ?? 0,
    tokens: Math.round(weight),
    frees: weight - weigher.content(staged.text),
    why: 'a finished span',
  }
  return [{ parts: own, text: staged.text, item }]
}

function editFor({ parts, text }: Placed): Edit {
  const from = parts[0]?.uuid ?? ''
  return { type: 'replace-range', from, to: lastWritten(parts)?.uuid ?? from, text, mechanism: name }
}
