// Collapse: replaces finished spans with summaries that were staged in the background. Undoing it expands them again.
import type { Explanation } from '../../tokens/explain.ts'
import { formatNumber } from '../../tokens/figure.ts'
import type { View } from '../../transcript/view/fold.ts'
import { type Declined, declined, type Plan, type PlanningMechanism, type Situation } from '../mechanism.ts'
import { partsOf, planRanges, replacementOf } from '../ranges.ts'

const name = 'collapse'

export type Staged = { readonly from: string; readonly to: string; readonly text: string }

/** Shares of the effective window at which staged summaries are used, and at which the next request waits for one. */
export const commitAt = 0.9
export const waitAt = 0.95

export function collapseState({ size, effectiveWindow }: Explanation): 'idle' | 'commit' | 'wait' {
  const share = size.tokens / effectiveWindow.value
  return share >= waitAt ? 'wait' : share >= commitAt ? 'commit' : 'idle'
}

export function collapse(staged: readonly Staged[]): PlanningMechanism {
  return { name, plan: (view, situation) => plan(view, situation, staged) }
}

function plan(view: View, situation: Situation, staged: readonly Staged[]): Plan | Declined {
  const { explanation } = situation
  if (collapseState(explanation) === 'idle') {
    const at = formatNumber(Math.ceil(explanation.effectiveWindow.value * commitAt))
    const detail = `${formatNumber(explanation.size.tokens)} tokens; staged summaries are used from ${at} on.`
    return declined(name, 'below-commit', detail)
  }
  const parts = partsOf(view)
  const replacements = staged
    .flatMap(({ from, to, text }) => {
      const start = parts.findIndex(({ uuid }) => uuid === from)
      const own = start < 0 ? [] : parts.slice(start, parts.findIndex(({ uuid }) => uuid === to) + 1)
      // The span is not in the view as it was, or something in it was pinned.
      if (own.length === 0 || own.some(({ isPinned }) => isPinned)) return []
      return [replacementOf(view, situation, { parts: own, text: () => text, why: 'a finished span' })]
    })
    .filter(({ item }) => item.frees > 0)
  if (replacements.length === 0) return declined(name, 'nothing-to-do', 'No staged summary is smaller than its span.')
  return planRanges(view, situation, {
    mechanism: name,
    reason: 'finished spans have summaries of their own',
    parts,
    replacements,
    editOf: (range) => ({ type: 'replace-range', ...range, mechanism: name }),
  })
}
