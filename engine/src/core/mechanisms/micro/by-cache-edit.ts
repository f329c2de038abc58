// Micro-compact by cache edit: while the cache is warm, asks the provider to delete old results from the cached prefix.
// The messages stay as they are.
import { type CacheEditState, noCacheEdits } from '../../cache/cache-watch.ts'
import { formatNumber } from '../../tokens/figure.ts'
import type { View } from '../../transcript/view/fold.ts'
import {
  type CacheEdit,
  type Declined,
  declined,
  type Plan,
  type PlanningMechanism,
  type Situation,
} from '../mechanism.ts'
import { clearToolUses } from '../native/native-options.ts'
import { worthIn } from '../situation.ts'
import { activeResults, callsIn, isCleared, itemOf, newestStaying } from './clearable.ts'
import { firstMessage, hasBoundThinking, planClearing, sums, weighed } from './clearing.ts'

const name = 'micro-by-cache-edit'

export const microByCacheEdit: PlanningMechanism = { name, plan }

/** Sent with every request while the cache is hit. */
export function pinnedCacheEdits({ deleted }: Pick<CacheEditState, 'deleted'>): readonly CacheEdit[] {
  return deleted.map((id) => ({ type: 'delete', cache_reference: id }))
}

function plan(view: View, situation: Situation): Plan | Declined {
  const { settings, client, cache, weigher, cacheEdits: { deleted } = noCacheEdits } = situation
  const { trigger } = settings.byCacheEdit
  if (settings.microCompact === false) return declined(name, 'turned-off', 'The setting microCompact is false.')
  if (!client.cacheEdits && !client.contextManagement) {
    return declined(name, 'client-unable', 'The model client can neither edit a cache nor manage context.')
  }
  if (cache.type !== 'warm') return declined(name, 'cache-not-warm', `The cache is ${cache.type}.`)
  const active = activeResults(view, situation)
  if (active.length < trigger) {
    const detail = `${formatNumber(active.length)} results are active; from ${formatNumber(trigger)} on the old ones are deleted.`
    return declined(name, 'nothing-to-do', detail)
  }
  const keep = newestStaying(view, settings, { results: active, keep: settings.byCacheEdit.keep })
  const going = active.slice(0, active.length - keep)
  const request = client.cacheEdits
    ? { cacheEdits: pinnedCacheEdits({ deleted: [...deleted, ...going.map(({ toolUseId }) => toolUseId)] }) }
    : // Where the API has no such block, the same is asked of its context management.
      clearToolUses(view, situation, keep)?.request
  if (going.length === 0 || !request) return declined(name, 'nothing-to-do', 'There is nothing left to delete.')
  const items = going.map((result) => itemOf(result, `not among the newest ${keep}`))
  const reason = `${formatNumber(active.length)} tool results are in the cached prefix`
  // A server would clear what was cleared here once more, in its own words, and the whole prefix would be written anew.
  if (!client.cacheEdits && weigher.once(callsIn, view).answered.some(({ result }) => isCleared(result))) {
    return planClearing(view, situation, { mechanism: name, reason, items: items.filter(({ frees }) => frees > 0) })
  }
  const planned = {
    type: 'planned',
    mechanism: name,
    reason,
    items,
    thinking: hasBoundThinking(view, situation, firstMessage(items)) ? 'delegated' : 'untouched',
    outcome: { type: 'request', request },
  } as const
  // A server that clears writes the prefix anew, so then it has to pay. A cache edit leaves the prefix where it is.
  if (!client.cacheEdits) return weighed({ ...planned, ...sums(view, situation, items) }, situation)
  const freed = Math.round(going.reduce((sum, { frees }) => sum + Math.max(0, frees), 0))
  return { ...planned, freed, worth: worthIn(situation, { freed, suffix: 0 }) }
}
