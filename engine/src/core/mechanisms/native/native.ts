// The API's own context management: results of reading tools, inputs of writing ones, old thinking.
import type { JsonObject } from '../../message/json.ts'
import type { View } from '../../transcript/view/fold.ts'
import { type Declined, declined, type Plan, type PlanningMechanism, type Situation } from '../mechanism.ts'
import { type Clearable, clearableResults, itemOf } from '../micro/clearable.ts'
import { firstMessage, hasBoundThinking, thinkingIn } from '../micro/clearing.ts'
import { worthIn } from '../situation.ts'
import { managementOf, toolUsesEdit } from './native-options.ts'

const name = 'native'
const minute = 60_000

export const native: PlanningMechanism = { name, plan }

function plan(view: View, situation: Situation): Plan | Declined {
  const { client, explanation, weigher } = situation
  const { trigger, keepTokens, clearAtLeast, toolResults, toolInputs, thinking } = situation.settings.native
  if (!client.contextManagement) {
    return declined(name, 'client-unable', 'The model client does not take context_management.')
  }
  const uses = toolUsesEdit(view, situation, {
    trigger: { type: 'input_tokens', value: trigger },
    keep: newestWorth(clearableResults(view, situation), keepTokens),
    clearAtLeast,
    results: toolResults,
    inputs: toolInputs,
  })
  const hasUses = (toolResults || toolInputs) && uses.items.length > 0
  // The API wants thinking first.
  const edits = [...(thinking ? thinkingEdits(view, situation) : []), ...(hasUses ? [uses.edit] : [])]
  if (edits.length === 0) return declined(name, 'nothing-to-do', 'There is nothing that the server could leave out.')
  const isDue = explanation.size.tokens > trigger
  const going = isDue && hasUses ? uses.items.filter(({ frees }) => frees > 0) : []
  const items = going.map((result) => itemOf(result, 'the server leaves it out'))
  const freed = Math.round(items.reduce((sum, { frees }) => sum + frees, 0))
  const first = firstMessage(items)
  return {
    type: 'planned',
    mechanism: name,
    reason: isDue ? 'the context is above the trigger' : 'the server acts once the context is above the trigger',
    items,
    freed,
    thinking: hasBoundThinking(view, situation, first) ? 'delegated' : 'untouched',
    worth: worthIn(situation, {
      freed,
      suffix: isDue ? Math.round(weigher.from(view.messages, first)) - freed : 0,
    }),
    outcome: { type: 'request', request: managementOf(edits) },
  }
}

function newestWorth(results: readonly Clearable[], tokens: number): number {
  let sum = 0
  const tooMany = results.toReversed().findIndex((result) => {
    sum += result.tokens
    return sum > tokens
  })
  return Math.max(1, tooMany < 0 ? results.length : tooMany)
}

/** After a long pause the last thinking turn is enough; in active use all of it stays. */
function thinkingEdits(view: View, { cache, now, settings, thinks, weigher }: Situation): readonly JsonObject[] {
  if (!thinks || weigher.once(thinkingIn, view).length === 0) return []
  const isIdle = cache.lastAnswer !== undefined && now - cache.lastAnswer > settings.native.idleMinutes * minute
  const keep = isIdle ? { type: 'thinking_turns', value: 1 } : { type: 'all' }
  return [{ type: 'clear_thinking_20251015', keep }]
}
