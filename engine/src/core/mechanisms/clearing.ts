// From what may go to a plan: the edits, what they free, what becomes of bound thinking, and the sum. Shared by the
// mechanisms that clear; which results go is theirs to say.
import { worthOf } from '../cache/economics.ts'
import { inWords } from '../tokens/figure.ts'
import type { Edit } from '../transcript/edits.ts'
import type { View } from '../transcript/fold.ts'
import {
  type Declined,
  declined,
  type Plan,
  type PlannedItem,
  type RequestOptions,
  type Situation,
} from './mechanism.ts'
import { thinkingIn, weightFrom } from './messages-in-view.ts'
import { compactionAhead, isInDanger, turnsAhead } from './situation.ts'

export type ClearingInput = {
  readonly mechanism: string
  readonly reason: string
  /** All free something; in the order of the view. */
  readonly items: readonly PlannedItem[]
  /** What the server is asked for instead, where it can do it and the thinking is bound. */
  readonly delegate: () => { readonly request: RequestOptions; readonly freed: number } | undefined
}

export function planClearing(view: View, situation: Situation, input: ClearingInput): Plan | Declined {
  const { mechanism, reason, items } = input
  const first = items[0]
  if (!first) return declined(mechanism, 'nothing-to-do', 'There is nothing left that may be cleared.')
  const edits: readonly Edit[] = [clearEdit(items, input, situation)]
  const bound = boundThinking(view, situation, first.message)
  const base = { type: 'planned', mechanism, reason } as const
  if (bound.length === 0) {
    return { ...base, items, ...sums(view, situation, items), thinking: 'untouched', outcome: { type: 'edits', edits } }
  }
  const { boundThinking: policy } = situation.settings
  const delegation = policy === 'delegate' && situation.client.contextManagement ? input.delegate() : undefined
  if (delegation) {
    const { request, freed } = delegation
    const { worth } = sums(view, situation, items)
    return { ...base, items, freed, worth, thinking: 'delegated', outcome: { type: 'request', request } }
  }
  if (policy === 'decline') {
    const detail = `The model binds its thinking to the prefix, and ${bound.length} answers behind the change think.`
    return declined(mechanism, 'thinking-bound', detail)
  }
  const all = [...items, ...bound]
  const after = view.sources[first.message]?.uuids.at(-1)
  const unthink: Edit = {
    type: 'clear-thinking',
    ...(after === undefined ? {} : { after }),
    mechanism,
    reason: 'bound to the prefix that changed',
  }
  const outcome = { type: 'edits', edits: [...edits, unthink] } as const
  return { ...base, items: all, ...sums(view, situation, all), thinking: 'removed', outcome }
}

/** By loops, here and below: a call for each of thousands of items is what such a plan would cost most. */
function clearEdit(items: readonly PlannedItem[], { mechanism, reason }: ClearingInput, { settings }: Situation): Edit {
  const toolUseIds: string[] = []
  const attachments: string[] = []
  for (const { type, toolUseId, uuids } of items) {
    if (toolUseId !== undefined) toolUseIds.push(toolUseId)
    if (type === 'attachment') attachments.push(...uuids)
  }
  return {
    type: 'clear-results',
    toolUseIds,
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(settings.recall ? { recall: true } : {}),
    mechanism,
    reason,
  }
}

/** Thinking in the answers behind a changed message, on models that bind it; nothing on all others. */
export function boundThinking(view: View, { model, weigher }: Situation, changed: number): readonly PlannedItem[] {
  if (model?.bindsThinking !== true) return []
  return thinkingIn(view, weigher).flatMap(({ message, blocks }): readonly PlannedItem[] => {
    if (message <= changed) return []
    const frees = blocks.reduce((sum, block) => sum + weigher.block(block), 0)
    const uuids = view.sources[message]?.uuids ?? []
    return [{ type: 'thinking', uuids, message, tokens: Math.round(frees), frees, why: 'bound to the prefix' }]
  })
}

/** Whether there is any. */
export function hasBoundThinking(view: View, { model, weigher }: Situation, changed: number): boolean {
  return model?.bindsThinking === true && (thinkingIn(view, weigher).at(-1)?.message ?? -1) > changed
}

/** What goes altogether, and whether it pays: what stands from the first changed message on is written again. */
export function sums(view: View, situation: Situation, items: readonly PlannedItem[]): Pick<Plan, 'freed' | 'worth'> {
  const first = firstMessage(items)
  let exact = 0
  for (const { frees } of items) exact += frees
  const behind = weightFrom(view, situation.weigher, first)
  const freed = Math.round(exact)
  const compaction = compactionAhead(situation)
  const worth = worthOf({
    freed,
    suffix: Math.max(0, Math.round(behind - exact)),
    turns: turnsAhead(situation, freed),
    cache: situation.cache,
    price: situation.model?.price,
    ...(compaction ? { compaction, coldShare: situation.coldShare } : {}),
  })
  return { freed, worth }
}

/** Of those that the items are in. */
export function firstMessage(items: readonly PlannedItem[]): number {
  let first = Number.POSITIVE_INFINITY
  for (const { message } of items) if (message < first) first = message
  return first
}

/**
 * The gate: what does not pay waits, unless nothing else will come to help. `margin` is the share of what is saved that
 * a forecast must be good for. A prefix that the server edits is written anew too.
 */
export function weighed(plan: Plan | Declined, situation: Situation, margin: number): Plan | Declined {
  if (plan.type === 'declined' || !situation.settings.weigh) return plan
  const { worth, mechanism } = plan
  const needed = compactionAhead(situation) ? worth.saved * margin : 0
  if (worth.net > needed || worth.cache === 'unknown' || isInDanger(situation)) return plan
  const sum = `${inWords(worth.saved)} saved, ${inWords(worth.cost)} to write again, ${inWords(worth.deferral)} for putting off a compaction`
  const detail = `Clearing ${inWords(worth.freed)} tokens does not pay in ${inWords(worth.turns)} requests: ${sum}.`
  return { ...declined(mechanism, 'does-not-pay', detail), worth }
}
