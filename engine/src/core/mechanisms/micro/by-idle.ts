// Micro-compact by idle time: after a long pause the provider has forgotten the prefix, so clearing costs nothing.
import { newestAnswerTime } from '../../cache/economics.ts'
import { formatNumber } from '../../tokens/figure.ts'
import type { View } from '../../transcript/view/fold.ts'
import { type Declined, declined, type Plan, type PlanningMechanism, type Situation } from '../mechanism.ts'
import { activeResults, itemOf, newestStaying } from './clearable.ts'
import { planClearing } from './clearing.ts'

const name = 'micro-by-idle'
const minute = 60_000

export const microByIdle: PlanningMechanism = { name, plan }

function plan(view: View, situation: Situation): Plan | Declined {
  const { settings, now } = situation
  const { minutes } = settings.byIdle
  if (settings.microCompact === false) return declined(name, 'turned-off', 'The setting microCompact is false.')
  const last = newestAnswerTime(view.messages)
  if (last === undefined) return declined(name, 'clock-unreliable', 'The newest answer has no time.')
  const gap = now - last
  if (!(gap >= 0)) return declined(name, 'clock-unreliable', 'The newest answer is from the future.')
  const pause = `${formatNumber(gap / minute)} minutes since the newest answer`
  if (gap <= minutes * minute)
    return declined(name, 'not-idle', `${pause}; more than ${formatNumber(minutes)} are needed.`)
  const results = activeResults(view, situation)
  const keep = newestStaying(view, settings, { results, keep: settings.byIdle.keep })
  const old = results.slice(0, results.length - keep).map((result) => itemOf(result, `not among the newest ${keep}`))
  const cold: Situation = { ...situation, cache: { ...situation.cache, type: 'cold' } }
  const items = old.filter(({ frees }) => frees > 0)
  return planClearing(view, cold, { mechanism: name, reason: pause, items, serverKeeps: keep })
}
