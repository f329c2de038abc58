// Micro-compact by size: when old tool results weigh too much, the worthless ones go, then the oldest. It never touches
// the newest few, and does nothing where little would be saved.

import { inWords } from '../../tokens/figure.ts'
import { createStaleReads, type WhyStale } from '../../tokens/stale-reads.ts'
import type { View } from '../../transcript/fold.ts'
import { answeredCalls, type CallInView, isCleared } from '../calls-in-view.ts'
import { activeResults, type Clearable } from '../clearable.ts'
import { planClearing, weighed } from '../clearing.ts'
import { createFollower } from '../follow.ts'
import { itemOf } from '../item.ts'
import {
  type Declined,
  declined,
  type Mechanism,
  type Plan,
  type PlannedItem,
  performPlan,
  type Situation,
} from '../mechanism.ts'
import { supersededMemory } from '../memory-copies.ts'
import { clearToolUses } from '../native-options.ts'
import type { Weigher } from '../weigher.ts'

const name = 'micro-by-size'

export const microBySize: Mechanism = { name, plan, perform: performPlan(name) }

function plan(view: View, situation: Situation): Plan | Declined {
  const off = whyNot(situation)
  if (off) return off
  const results = activeResults(view, situation)
  const chosen = choose(results, staleIn(view, situation.weigher), situation)
  const items = chosen.concat(supersededMemory(view, situation)).filter(({ frees }) => frees > 0)
  if (items.length === 0) return declined(name, 'nothing-to-do', 'No old tool result weighs on the context.')
  const saved = items.reduce((sum, { tokens }) => sum + tokens, 0)
  const { least } = situation.settings.bySize
  if (saved < least) {
    return declined(
      name,
      'too-little',
      `It would save ${inWords(saved)} tokens; below ${inWords(least)} nothing is done.`,
    )
  }
  const total = results.reduce((sum, { tokens }) => sum + tokens, 0)
  const planned = planClearing(view, situation, {
    mechanism: name,
    reason: `tool results weigh ${inWords(total)} tokens`,
    items,
    delegate: () => clearToolUses(view, situation, { trigger: 'now', keep: results.length - chosen.length }),
  })
  return weighed(planned, situation)
}

function whyNot({ settings, explanation }: Situation): Declined | undefined {
  if (settings.microCompact === false) return declined(name, 'turned-off', 'The setting microCompact is false.')
  if (settings.microCompact === 'always' || explanation.isAboveWarning) return undefined
  const { size, warning } = explanation
  const detail = `${inWords(size.tokens)} tokens are below the warning at ${inWords(warning.value)}.`
  return declined(name, 'below-warning', detail)
}

const staleWords = { 'read-again': 'read again further down', 'changed-since': 'changed since it was read' } as const

type WhyOf = (toolUseId: string) => WhyStale | undefined

function staleIn(view: View, weigher: Weigher): WhyOf {
  return weigher.once(staleReader, weigher)(answeredCalls(view, weigher))
}

function staleReader(): (calls: readonly CallInView[]) => WhyOf {
  const { take, whyOf } = createStaleReads()
  const follow = createFollower((call: CallInView) => take(call, { gone: isCleared(call.result) }))
  return (calls) => {
    follow(calls)
    return whyOf
  }
}

/** Worthless reads all go, whatever their age; then the oldest, while too much remains. */
function choose(results: readonly Clearable[], whyOf: WhyOf, { settings }: Situation): readonly PlannedItem[] {
  const { keep, target } = settings.bySize
  let remaining = results.reduce((sum, { tokens }) => sum + tokens, 0)
  const chosen: PlannedItem[] = []
  for (const item of results) {
    const why = whyOf(item.toolUseId)
    if (why === undefined) continue
    chosen.push(itemOf(item, staleWords[why]))
    remaining -= item.tokens
  }
  for (const item of results.slice(0, Math.max(0, results.length - keep))) {
    if (remaining <= target) break
    if (item.frees <= 0 || whyOf(item.toolUseId) !== undefined) continue
    chosen.push(itemOf(item, 'among the oldest'))
    remaining -= item.tokens
  }
  return chosen
}
