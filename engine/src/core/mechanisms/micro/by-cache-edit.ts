// Micro-compact by cache edit: while the cache is warm the provider is asked to delete old results from the prefix it
// holds, and the messages stay as they are. What was deleted is kept by the session, as a value.

import { worthOf } from '../../cache/economics.ts'
import { type CacheEditState, noCacheEdits, withSeen } from '../../cache/edit-state.ts'
import { formatNumber } from '../../tokens/figure.ts'
import type { View } from '../../transcript/view/fold.ts'
import {
  type CacheEdit,
  type Declined,
  declined,
  type Plan,
  type PlanningMechanism,
  type RequestOptions,
  type Situation,
} from '../mechanism.ts'
import { clearToolUses } from '../native/native-options.ts'
import { turnsAhead } from '../situation.ts'
import { answeredCalls, type Clearable, clearableResults, isCleared, itemOf, newestStaying } from './clearable.ts'
import { firstMessage, hasBoundThinking, planClearing, sums, weighed } from './clearing.ts'

const name = 'micro-by-cache-edit'

export const microByCacheEdit: PlanningMechanism = { name, plan }

/** To be sent with every request as long as the cache is hit. */
export function pinnedCacheEdits({ deleted }: CacheEditState): readonly CacheEdit[] {
  return deleted.map((id) => ({ type: 'delete', cache_reference: id }))
}

function plan(view: View, situation: Situation): Plan | Declined {
  const { settings, client, cache, cacheEdits: state = noCacheEdits } = situation
  const { trigger } = settings.byCacheEdit
  if (settings.microCompact === false) return declined(name, 'turned-off', 'The setting microCompact is false.')
  if (!client.cacheEdits && !client.contextManagement) {
    return declined(name, 'client-unable', 'The model client can neither edit a cache nor manage context.')
  }
  if (cache.type !== 'warm') return declined(name, 'cache-not-warm', `The cache is ${cache.type}.`)
  const active = activeResults(clearableResults(view, situation), state)
  if (active.length < trigger) {
    const detail = `${formatNumber(active.length)} results are active; from ${formatNumber(trigger)} on the old ones are deleted.`
    return declined(name, 'nothing-to-do', detail)
  }
  const keep = newestStaying(view, settings, { results: active, keep: settings.byCacheEdit.keep })
  const going = active.slice(0, active.length - keep)
  const request = requestFor(view, situation, { going, keep, state })
  if (going.length === 0 || !request) return declined(name, 'nothing-to-do', 'There is nothing left to delete.')
  const items = going.map((result) => itemOf(result, `not among the newest ${keep}`))
  const reason = `${formatNumber(active.length)} tool results are in the cached prefix`
  if (!client.cacheEdits && hasClearedHere(view, situation)) {
    const clearing = {
      mechanism: name,
      reason,
      items: items.filter(({ frees }) => frees > 0),
      delegate: () => undefined,
    }
    return weighed(planClearing(view, situation, clearing), situation)
  }
  const { freed, worth } = client.cacheEdits ? inPlace(going, situation) : sums(view, situation, items)
  const planned: Plan = {
    type: 'planned',
    mechanism: name,
    reason,
    items,
    freed,
    thinking: hasBoundThinking(view, situation, firstMessage(items)) ? 'delegated' : 'untouched',
    worth,
    outcome: { type: 'request', request },
  }
  // A cache edit leaves the prefix where it is. A server that clears writes it anew, so then it has to pay.
  return client.cacheEdits ? planned : weighed(planned, situation)
}

/** A server would clear what was cleared here once more, in its own words, and the whole prefix would be written anew. */
function hasClearedHere(view: View, { weigher }: Situation): boolean {
  return weigher.once(answeredCalls, view).some(({ result }) => isCleared(result))
}

/** The prefix stays where it is, so nothing is written again. */
function inPlace(going: readonly Clearable[], situation: Situation): Pick<Plan, 'freed' | 'worth'> {
  let exact = 0
  for (const { frees } of going) exact += Math.max(0, frees)
  const freed = Math.round(exact)
  const { cache, model } = situation
  return {
    freed,
    worth: worthOf({ freed, suffix: 0, turns: turnsAhead(situation, freed), cache, price: model?.price }),
  }
}

/** In order of arrival: in the view, and not deleted yet. */
function activeResults(results: readonly Clearable[], state: CacheEditState): readonly Clearable[] {
  if (state.seen.length === 0 && state.deleted.length === 0) return results
  const inView = new Map(results.map((item) => [item.toolUseId, item]))
  const deleted = new Set(state.deleted)
  return withSeen(state, [...inView.keys()])
    .seen.filter((id) => !deleted.has(id))
    .map((id) => inView.get(id))
    .filter((item) => item !== undefined)
}

/** Where the API has no such block, the same is asked of its context management. */
function requestFor(
  view: View,
  situation: Situation,
  {
    going,
    keep,
    state,
  }: { readonly going: readonly Clearable[]; readonly keep: number; readonly state: CacheEditState },
): RequestOptions | undefined {
  if (!situation.client.cacheEdits) return clearToolUses(view, situation, { trigger: 'now', keep })?.request
  const cacheEdits = [...pinnedCacheEdits(state)]
  for (const { toolUseId } of going) cacheEdits.push({ type: 'delete', cache_reference: toolUseId })
  return { cacheEdits }
}
