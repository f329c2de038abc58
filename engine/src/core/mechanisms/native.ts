// The API's own context management: omitting tool results, inputs and thinking.
import type { JsonObject } from '../message/json.ts'
import { declined } from '../ports/outcome.ts'
import type { View } from '../transcript/view/fold.ts'
import { type Clearable, clearableResults, deletedIn, isHelpful, itemOf } from './clearable.ts'
import { firstMessage, thinkingAfter, thinkingIn } from './clearing.ts'
import type { PlanningMechanism, Situation } from './mechanism.ts'
import { managementOf, toolUsesEdit } from './server-edits.ts'
import { worthIn } from './situation.ts'

const minute = 60_000
const whyNow = 'the context is above the trigger'
const whyLater = 'the server acts once the context is above the trigger'

/** Results of reading tools, inputs of writing ones, old thinking. */
export const native: PlanningMechanism = {
  name: 'native',
  isAdditive: true,
  asksServer: true,
  onlyWith: 'native',
  plan: (view, situation) => {
    const { client, explanation, weigher } = situation
    const { trigger, keepTokens, clearAtLeast, toolResults, toolInputs, thinking } = situation.settings.native
    if (!client.contextManagement) {
      return declined('client-unable', 'The model client does not take context_management.')
    }
    const uses = toolUsesEdit(view, situation, {
      trigger: { type: 'input_tokens', value: trigger },
      keep: newestWorth(clearableResults(view, situation), keepTokens),
      clearAtLeast,
      results: toolResults,
      inputs: toolInputs,
    })
    const hasUses = (toolResults || toolInputs) && uses.items.length > 0
    // The API requires the edit of thinking to come first.
    const edits = [...(thinking ? thinkingEdits(view, situation) : []), ...(hasUses ? [uses.edit] : [])]
    if (edits.length === 0) return declined('nothing-to-do', 'There is nothing that the server could leave out.')
    const isDue = explanation.size.tokens > trigger
    const gone = deletedIn(situation)
    const left = uses.items.filter((item) => isHelpful(item) && !gone.has(item.toolUseId))
    const going = isDue && hasUses ? left : []
    const freed = Math.round(going.reduce((sum, { frees }) => sum + frees, 0))
    const first = firstMessage(going)
    return {
      type: 'delegated',
      mechanism: 'native',
      why: isDue ? whyNow : whyLater,
      items: going.map((result) => itemOf(result, 'the server leaves it out')),
      freed,
      thinking: thinkingAfter(view, situation, first),
      worth: worthIn(situation, {
        freed,
        suffix: isDue ? Math.round(weigher.from(view.messages, first)) - freed : 0,
      }),
      request: managementOf(edits),
    }
  },
}

function newestWorth(results: readonly Clearable[], tokens: number): number {
  let sum = 0
  const tooMany = results.toReversed().findIndex((result) => {
    sum += result.tokens
    return sum > tokens
  })
  return Math.max(1, tooMany < 0 ? results.length : tooMany)
}

/** After a long pause only the thinking of the last turn stays; otherwise all of it does. */
function thinkingEdits(view: View, { cache, now, settings, thinks, weigher }: Situation): readonly JsonObject[] {
  if (!thinks || weigher.once(thinkingIn, view).length === 0) return []
  const isIdle = cache.lastAnswer !== undefined && now - cache.lastAnswer > settings.native.idleMinutes * minute
  const keep = isIdle ? { type: 'thinking_turns', value: 1 } : { type: 'all' }
  return [{ type: 'clear_thinking_20251015', keep }]
}
