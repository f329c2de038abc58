// Micro-compact by size: when old tool results weigh too much, the worthless ones go, then the oldest. It never touches
// the newest few, and does nothing where little would be saved.

import { inWords } from '../../tokens/figure.ts'
import { createStaleReads, type FollowedRead, whyStale } from '../../tokens/stale-reads.ts'
import type { View } from '../../transcript/view/fold.ts'
import { createBeside, createFollower } from '../follow.ts'
import {
  type Declined,
  declined,
  type Plan,
  type PlannedItem,
  type PlanningMechanism,
  type Situation,
} from '../mechanism.ts'
import { clearToolUses } from '../native/native-options.ts'
import type { Weigher } from '../weigher.ts'
import { answeredCalls, type CallInView, isCleared } from './calls-in-view.ts'
import { activeResults, type Clearable, newestStaying, seenUpTo } from './clearable.ts'
import { planClearing, weighed } from './clearing.ts'
import { itemsOf } from './item.ts'
import { supersededMemory } from './memory-copies.ts'

const name = 'micro-by-size'

export const microBySize: PlanningMechanism = { name, plan }

function plan(view: View, situation: Situation): Plan | Declined {
  const off = whyNot(situation)
  if (off) return off
  const results = activeResults(view, situation)
  const { chosen, total } = choose(results, readsIn(view, situation.weigher, results), {
    ...situation,
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
      `It would save ${inWords(saved)} tokens; below ${inWords(least)} nothing is done.`,
    )
  }
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

/** For each result the reads of its call, where it read a file. */
type Reads = readonly (readonly FollowedRead[] | undefined)[]

function readsIn(view: View, weigher: Weigher, results: readonly Clearable[]): Reads {
  return weigher.once(readsReader, weigher)(answeredCalls(view, weigher), results)
}

/** Looked up once for each result: one that a further read belongs to is another one. */
function readsReader(): (calls: readonly CallInView[], results: readonly Clearable[]) => Reads {
  const { take, readsOf } = createStaleReads()
  const follow = createFollower((call: CallInView) => take(call, { gone: isCleared(call.result) }))
  const beside = createBeside<Clearable, readonly FollowedRead[]>()
  return (calls, results) => {
    follow(calls)
    const reads = beside(results)
    for (let at = 0; at < results.length; at++) reads[at] ??= readsOf(results[at]?.toolUseId ?? '')
    return reads
  }
}

type Choosing = Pick<Situation, 'settings' | 'weigher'> & {
  readonly staying: number
  /** Results of messages before this one have been seen. */
  readonly seen: number
}
type Chosen = { readonly chosen: readonly PlannedItem[]; readonly total: number }

/** Worthless reads all go, once an answer has seen them; then the oldest, while too much remains. As they stand in the view. */
function choose(results: readonly Clearable[], reads: Reads, { settings, weigher, staying, seen }: Choosing): Chosen {
  const { target } = settings.bySize
  const itemsFor = (why: string) => itemsOf({ results, why, weigher })
  const stale = {
    'read-again': itemsFor('read again further down'),
    'changed-since': itemsFor('changed since it was read'),
  }
  const old = itemsFor('among the oldest')
  const worthless: PlannedItem[] = []
  const others: number[] = []
  let total = 0
  let remaining = 0
  for (let at = 0; at < results.length; at++) {
    const { tokens, message } = results[at] as Clearable
    const why = message < seen ? whyStale(reads[at] ?? []) : undefined
    total += tokens
    if (why !== undefined) worthless.push(stale[why](at))
    else {
      others.push(at)
      remaining += tokens
    }
  }
  const oldest: PlannedItem[] = []
  for (const at of others) {
    if (remaining <= target || at >= results.length - staying) break
    const { frees, tokens } = results[at] as Clearable
    if (frees <= 0) continue
    oldest.push(old(at))
    remaining -= tokens
  }
  return { chosen: merged(worthless, oldest), total }
}

/** Two lists in the order of the view as one; of the same message those of the first list come first. */
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
