// The provider's own compaction: the server summarizes when the prompt exceeds a trigger, and reads on from the summary
// in its answer.
import { blocksOf } from '../../message/block.ts'
import type { View } from '../../transcript/view/fold.ts'
import { type Declined, declined, type Plan, type PlanningMechanism, type Situation } from '../mechanism.ts'
import { worthIn } from '../situation.ts'
import { managementOf } from './native-options.ts'

const name = 'server-compaction'
const beta = 'compact-2026-01-12'
/** The API takes no smaller trigger. */
const leastTrigger = 50_000
const usualSummary = 8_000

export type ServerCompactionInput = {
  /** Input tokens. Default: the threshold of automatic compaction. */
  readonly trigger?: number
  /** Replaces the provider's prompt. It should forbid tools: a model that calls one writes no summary. */
  readonly instructions?: string
  /** The answer ends with the summary. */
  readonly pauses?: boolean
}

export function serverCompaction(input: ServerCompactionInput = {}): PlanningMechanism {
  return { name, plan: (view, situation) => plan(view, situation, input) }
}

function plan(view: View, situation: Situation, input: ServerCompactionInput): Plan | Declined {
  const { client, explanation } = situation
  const ability = client.compaction ?? situation.model?.compaction ?? 'none'
  if (!client.contextManagement || ability === 'none') {
    return declined(name, 'client-unable', 'The model does not summarize on the server.')
  }
  if (view.messages.length === 0) return declined(name, 'nothing-to-do', 'There is no conversation yet.')
  const trigger = Math.max(leastTrigger, input.trigger ?? explanation.autoCompactThreshold.value)
  const isDue = explanation.size.tokens > trigger && !endsWithSummary(view)
  const freed = isDue ? Math.max(0, explanation.size.tokens - usualSummary) : 0
  const edit = {
    type: 'compact_20260112',
    trigger: { type: 'input_tokens', value: trigger },
    ...(input.pauses ? { pause_after_compaction: true } : {}),
    ...(input.instructions === undefined ? {} : { instructions: input.instructions }),
  }
  return {
    type: 'planned',
    mechanism: name,
    reason: isDue ? 'the context is above the trigger' : 'the server acts once the context is above the trigger',
    items: [],
    freed,
    thinking: 'delegated',
    worth: worthIn(situation, { freed, suffix: 0 }),
    outcome: { type: 'request', request: managementOf([edit], beta) },
  }
}

function endsWithSummary({ messages }: View): boolean {
  const newest = messages.findLast(({ role }) => role === 'assistant')
  return blocksOf(newest?.content).some(({ type }) => type === 'compaction')
}
