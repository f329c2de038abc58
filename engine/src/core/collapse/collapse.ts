// Collapse: replaces finished spans with summaries that were staged in the background. Undoing it expands them again.

import type { Weigher } from '../mechanisms/measure.ts'
import { declined, type PlanningMechanism } from '../mechanisms/mechanism.ts'
import { type Part, partsOf, planRanges, replacementOf } from '../mechanisms/ranges.ts'
import { turnsOf } from '../message/cut-points.ts'
import { isRequest } from '../message/message.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'

export type Staged = { readonly from: string; readonly to: string; readonly text: string }

/** Shares of the effective window at which staged summaries are used, and at which the next request waits for one. */
export const commitAt = 0.9
export const waitAt = 0.95

export function collapseState({ size, effectiveWindow }: Explanation): 'idle' | 'commit' | 'wait' {
  const share = size.tokens / effectiveWindow.value
  return share >= waitAt ? 'wait' : share >= commitAt ? 'commit' : 'idle'
}

export function collapse(staged: readonly Staged[]): PlanningMechanism {
  const name = 'collapse'
  return {
    name,
    plan: (view, situation) => {
      const { explanation } = situation
      if (collapseState(explanation) === 'idle') {
        const at = formatNumber(Math.ceil(explanation.effectiveWindow.value * commitAt))
        const detail = `${formatNumber(explanation.size.tokens)} tokens; staged summaries are used from ${at} on.`
        return declined(name, 'below-commit', detail)
      }
      const parts = partsOf(view)
      const replacements = staged.flatMap(({ from, to, text }) => {
        const start = parts.findIndex(({ uuid }) => uuid === from)
        const own = start < 0 ? [] : parts.slice(start, parts.findIndex(({ uuid }) => uuid === to) + 1)
        // The span is not in the view as it was, or something in it was pinned.
        if (own.length === 0 || own.some(({ isPinned }) => isPinned)) return []
        return replacementOf(view, situation, { parts: own, text: () => text, why: 'a finished span' })
      })
      if (replacements.length === 0)
        return declined(name, 'nothing-to-do', 'No staged summary is smaller than its span.')
      return planRanges(view, situation, {
        mechanism: name,
        why: 'finished spans have summaries of their own',
        parts,
        replacements,
        editOf: (range) => ({ type: 'replace-range', ...range, mechanism: name }),
      })
    },
  }
}

/** From something a person asked to the answer that ends it. */
export type Span = {
  readonly from: string
  readonly to: string
  readonly parts: readonly Part[]
  readonly tokens: number
}

const leastSpan = 2_000

/** Oldest first; none with anything pinned or with a summary. The newest one is not finished. */
export function finishedSpans(view: View, weigher: Weigher, least: number = leastSpan): readonly Span[] {
  const parts = partsOf(view)
  const turns = turnsOf(parts, ({ origin }) => isRequest(origin)).slice(0, -1)
  return turns.flatMap(({ start, end }): readonly Span[] => {
    const own = parts.slice(start, end)
    const [first, last] = [own[0], own.at(-1)]
    if (first?.uuid === undefined || last?.uuid === undefined) return []
    const isPlain = own.every(({ isPinned, origin }) => !isPinned && origin !== 'summary')
    const isAlone = parts[start - 1]?.at !== first.at && parts[end]?.at !== last.at
    if (!isRequest(first.origin) || last.role !== 'assistant' || !isPlain || !isAlone) return []
    const tokens = own.reduce((sum, { piece }) => sum + weigher.message(piece), 0)
    return tokens < least ? [] : [{ from: first.uuid, to: last.uuid, parts: own, tokens: Math.round(tokens) }]
  })
}
