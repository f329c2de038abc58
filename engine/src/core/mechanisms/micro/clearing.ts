// From the items that go to a plan: the edits, the tokens they free, what happens to bound thinking, and whether it pays.
// Shared by the mechanisms that clear; each chooses its own items.
import { type Worth, worthOf } from '../../cache/economics.ts'
import { type Block, blocksOf, isThinking } from '../../message/block.ts'
import type { ViewMessage } from '../../message/message.ts'
import { formatNumber } from '../../tokens/figure.ts'
import type { Edit } from '../../transcript/format/edits.ts'
import type { View } from '../../transcript/view/fold.ts'
import {
  type Declined,
  declined,
  type Plan,
  type PlannedItem,
  type RequestOptions,
  type Situation,
} from '../mechanism.ts'
import { compactionAhead, isInDanger, sparesCompaction, turnsAhead } from '../situation.ts'
import type { Weigher } from '../weigher.ts'
import { type Clearable, clearableResults, deletedIn, isWriting } from './clearable.ts'

export type ClearingInput = {
  readonly mechanism: string
  readonly reason: string
  /** In the order of the view; each frees something. */
  readonly items: readonly PlannedItem[]
  /** What the server is asked to do instead, where it can and thinking is bound. */
  readonly delegate: () => { readonly request: RequestOptions; readonly freed: number } | undefined
}

export function planClearing(view: View, situation: Situation, input: ClearingInput): Plan | Declined {
  const { mechanism, reason, items } = input
  if (items.length === 0) return declined(mechanism, 'nothing-to-do', 'There is nothing left that may be cleared.')
  // What the provider already leaves out is cleared here too: a local edit ends what was asked of the provider.
  const gone = goneAlready(view, situation)
  const changed = gone.length === 0 ? items : [...gone, ...items]
  const from = firstMessage(changed)
  const edits = [clearEdit(changed, input, situation), ...inputEdits(view, situation, { ...input, items: changed })]
  const bound = boundThinking(view, situation, from)
  const base = { type: 'planned', mechanism, reason } as const
  if (bound.length === 0) {
    const outcome = { type: 'edits', edits } as const
    return { ...base, items, ...sums(view, situation, changed), thinking: 'untouched', outcome }
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
  const after = view.sources[from]?.uuids.at(-1)
  const unthink: Edit = {
    type: 'clear-thinking',
    ...(after === undefined ? {} : { after }),
    mechanism,
    reason: 'bound to the prefix that changed',
  }
  const outcome = { type: 'edits', edits: [...edits, unthink] } as const
  return { ...base, items: all, ...sums(view, situation, [...changed, ...bound]), thinking: 'removed', outcome }
}

/** What goes, as far as an edit names it. */
type Named = Pick<PlannedItem, 'type' | 'toolUseId' | 'uuids'>
type Going = Pick<ClearingInput, 'mechanism' | 'reason'> & { readonly items: readonly Named[] }

/** Results that the provider already leaves out; clearing them frees nothing more. */
function goneAlready(view: View, situation: Situation): readonly Clearable[] {
  const gone = deletedIn(situation)
  if (gone.size === 0) return []
  const items = clearableResults(view, situation).filter(({ toolUseId }) => gone.has(toolUseId))
  return items.map((item) => ({ ...item, frees: 0 }))
}

function clearEdit(items: readonly Named[], { mechanism, reason }: ClearingInput, { settings }: Situation): Edit {
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

/** With `clearInputs`, the inputs of writing calls whose results go. */
function inputEdits(view: View, situation: Situation, { mechanism, reason, items }: Going): readonly Edit[] {
  if (!situation.settings.clearInputs) return []
  const going = new Set(items.map(({ toolUseId }) => toolUseId))
  const writing = clearableResults(view, situation).filter(
    ({ kind, toolUseId }) => isWriting(kind) && going.has(toolUseId),
  )
  const toolUseIds = writing.map(({ toolUseId }) => toolUseId)
  return toolUseIds.length === 0 ? [] : [{ type: 'clear-inputs', toolUseIds, mechanism, reason }]
}

/** Thinking in the answers behind a changed message, on models that bind it; nothing on all others. */
export function boundThinking(view: View, { model, weigher }: Situation, changed: number): readonly PlannedItem[] {
  if (model?.bindsThinking !== true) return []
  return thinkingIn(view).flatMap(({ message, blocks }): readonly PlannedItem[] => {
    if (message <= changed) return []
    const frees = blocks.reduce((sum, block) => sum + weigher.block(block), 0)
    const uuids = view.sources[message]?.uuids ?? []
    return [{ type: 'thinking', uuids, message, tokens: Math.round(frees), frees, why: 'bound to the prefix' }]
  })
}

/** Whether there is any such thinking. */
export function hasBoundThinking(view: View, { model }: Situation, changed: number): boolean {
  return model?.bindsThinking === true && (thinkingIn(view).at(-1)?.message ?? -1) > changed
}

/** An answer that thinks: its index in the view, and the blocks. */
export type Thinking = { readonly message: number; readonly blocks: readonly Block[] }

export function thinkingIn({ messages }: View): readonly Thinking[] {
  return messages.flatMap(({ role, content }, message): readonly Thinking[] => {
    if (role !== 'assistant' || typeof content === 'string' || !content.some(isThinking)) return []
    return [{ message, blocks: blocksOf(content).filter(isThinking) }]
  })
}

/** What the messages from this one on weigh together. */
export function weightFrom({ messages }: View, weigher: Weigher, first: number): number {
  let sum = 0
  for (let at = Math.max(0, first); at < messages.length; at++) sum += weigher.message(messages[at] as ViewMessage)
  return sum
}

/** Tokens freed in all, and whether that pays: everything from the first changed message on is written to the cache again. */
export function sums(
  view: View,
  situation: Situation,
  items: readonly Pick<PlannedItem, 'message' | 'frees'>[],
): Pick<Plan, 'freed' | 'worth'> {
  const first = firstMessage(items)
  let exact = 0
  for (const { frees } of items) exact += frees
  const behind = weightFrom(view, situation.weigher, first)
  const freed = Math.round(exact)
  const compaction = compactionAhead(situation)
  // A host that says how many requests are to come has said it all.
  const isForecast = situation.growth !== undefined && situation.expectedTurns === undefined
  const worth = worthOf({
    freed,
    suffix: Math.max(0, Math.round(behind - exact)),
    turns: turnsAhead(situation, freed),
    cache: situation.cache,
    price: situation.model?.price,
    ...(isForecast ? { carried: carriedSoFar(items), coldShare: situation.coldShare } : {}),
    ...(compaction ? { compaction } : {}),
  })
  return { freed, worth }
}

/** Tokens times requests, counted back from the newest item. An answer and its results are two messages. */
function carriedSoFar(items: readonly Pick<PlannedItem, 'message' | 'frees'>[]): number {
  let newest = 0
  for (const { message } of items) if (message > newest) newest = message
  let carried = 0
  for (const { message, frees } of items) carried += (frees * (newest - message)) / 2
  return carried
}

/** The first message that any of the items is in. */
export function firstMessage(items: readonly Pick<PlannedItem, 'message'>[]): number {
  let first = Number.POSITIVE_INFINITY
  for (const { message } of items) if (message < first) first = message
  return first
}

/**
 * Declines a plan that does not pay, or that will soon pay better, unless it spares a compaction or no other help is
 * coming. A prefix that the server edits is written to the cache again too.
 */
export function weighed(plan: Plan | Declined, situation: Situation): Plan | Declined {
  if (plan.type === 'declined' || !situation.settings.weigh) return plan
  const { worth, mechanism, freed } = plan
  if (sparesCompaction(situation, freed)) return plan
  if ((worth.pays && worth.isDue) || worth.cache === 'unknown' || isInDanger(situation)) return plan
  return { ...declined(mechanism, 'does-not-pay', whyWait(worth)), worth }
}

function whyWait({ saved, cost, deferral, freed, turns, pays }: Worth): string {
  if (pays) {
    return `Clearing ${formatNumber(freed)} tokens is not due: carrying them has cost less than the ${formatNumber(cost)} to write again.`
  }
  const sum = `${formatNumber(saved)} saved, ${formatNumber(cost)} to write again, ${formatNumber(deferral)} for putting off a compaction`
  return `Clearing ${formatNumber(freed)} tokens does not pay in ${formatNumber(turns)} requests: ${sum}.`
}
