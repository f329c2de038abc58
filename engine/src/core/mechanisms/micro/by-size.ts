// Micro-compact by size: when old tool results weigh too much, stale ones go first, then the oldest. It never touches the
// newest few, and does nothing where little would be saved.

import { formatNumber } from '../../tokens/figure.ts'
import { staleReads, type WhyStale } from '../../tokens/stale-reads.ts'
import type { View } from '../../transcript/view/fold.ts'
import {
  type Declined,
  declined,
  type Plan,
  type PlannedItem,
  type PlanningMechanism,
  type Situation,
} from '../mechanism.ts'
import { clearToolUses } from '../native/native-options.ts'
import {
  activeResults,
  answeredCalls,
  type Clearable,
  isCleared,
  itemOf,
  newestStaying,
  seenUpTo,
} from './clearable.ts'
import { planClearing, weighed } from './clearing.ts'
import { supersededMemory } from './memory-copies.ts'

const name = 'micro-by-size'

export const microBySize: PlanningMechanism = { name, plan }

function plan(view: View, situation: Situation): Plan | Declined {
  const off = whyNot(situation)
  if (off) return off
  const results = activeResults(view, situation)
  const calls = situation.weigher.once(answeredCalls, view)
  const { chosen, total } = choose(results, {
    target: situation.settings.bySize.target,
    stale: staleReads(calls, ({ result }) => isCleared(result)),
    staying: newestStaying(view, situation.settings, { results, keep: situation.settings.bySize.keep }),
    seen: seenUpTo(view),
  })
  const items: PlannedItem[] = []
  let saved = 0
  for (const item of merged(chosen, supersededMemory(view, situation))) {
    if (item.frees <= 0) continue
    items.push(item)
    saved += item.tokens
  }
  if (items.length === 0) return declined(name, 'nothing-to-do', 'No old tool result weighs on the context.')
  const { least } = situation.settings.bySize
  if (saved < least) {
    return declined(
      name,
      'too-little',
      `It would save ${formatNumber(saved)} tokens; below ${formatNumber(least)} nothing is done.`,
    )
  }
  const planned = planClearing(view, situation, {
    mechanism: name,
    reason: `tool results weigh ${formatNumber(total)} tokens`,
    items,
    delegate: () => clearToolUses(view, situation, { trigger: 'now', keep: results.length - chosen.length }),
  })
  return weighed(planned, situation)
}

function whyNot({ settings, explanation }: Situation): Declined | undefined {
  if (settings.microCompact === false) return declined(name, 'turned-off', 'The setting microCompact is false.')
  if (settings.microCompact === 'always' || explanation.isAboveWarning) return undefined
  const { size, warning } = explanation
  const detail = `${formatNumber(size.tokens)} tokens are below the warning at ${formatNumber(warning.value)}.`
  return declined(name, 'below-warning', detail)
}

type Choosing = {
  /** Tokens of results that may remain. */
  readonly target: number
  readonly stale: ReadonlyMap<string, WhyStale>
  /** So many of the newest stay. */
  readonly staying: number
  /** Results of messages before this one have been seen. */
  readonly seen: number
}
type Chosen = { readonly chosen: readonly PlannedItem[]; readonly total: number }

const whyStale = { 'read-again': 'read again further down', 'changed-since': 'changed since it was read' } as const

/** Stale reads all go once an answer has seen them; then the oldest, while too much remains. In view order. */
function choose(results: readonly Clearable[], { target, stale, staying, seen }: Choosing): Chosen {
  const staleItems: PlannedItem[] = []
  const oldItems: PlannedItem[] = []
  const others: Clearable[] = []
  let remaining = 0
  let total = 0
  for (const result of results) {
    const why = result.message < seen ? stale.get(result.toolUseId) : undefined
    total += result.tokens
    if (why !== undefined) {
      staleItems.push(itemOf(result, whyStale[why]))
      continue
    }
    others.push(result)
    remaining += result.tokens
  }
  const newest = new Set(results.slice(results.length - staying))
  for (const result of others) {
    if (remaining <= target || newest.has(result)) break
    if (result.frees <= 0) continue
    oldItems.push(itemOf(result, 'among the oldest'))
    remaining -= result.tokens
  }
  return { chosen: merged(staleItems, oldItems), total }
}

/** Merges two lists in view order; within a message, items of the first list come first. */
function merged(one: readonly PlannedItem[], other: readonly PlannedItem[]): readonly PlannedItem[] {
  if (one.length === 0 || other.length === 0) return one.length === 0 ? other : one
  const all: PlannedItem[] = []
  let next = 0
  for (const item of one) {
    for (let before = other[next]; before && before.message < item.message; before = other[++next]) all.push(before)
    all.push(item)
  }
  for (; next < other.length; next++) all.push(other[next] as PlannedItem)
  return all
}
