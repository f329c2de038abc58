// Changes that a person makes to the context: undo, snip, pin, rewind, another model. Each is appended to the transcript.
import { type SnipInput, snip } from '../mechanisms/ranges.ts'
import { defined } from '../message/json.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { Compacted, Failed } from '../ports/outcome.ts'
import { type Edit, readEdit, type UndoOptions, undoFields } from '../transcript/format/edits.ts'
import type { Undoable } from '../transcript/tree/changes.ts'
import { pinProblem } from '../transcript/view/effects.ts'
import { compactNow } from './compact.ts'
import type { ModelChoice } from './gauge.ts'
import { boundaryBody } from './input.ts'
import { type Runtime, reduceView } from './runtime.ts'
import { afterChange } from './tracking.ts'

export type EditOutcome =
  | { readonly type: 'done'; readonly freed: number }
  | { readonly type: 'declined'; readonly why: string }

/** `change` is the first change of the action that was undone. */
export type UndoOutcome = { readonly type: 'undone'; readonly change: Undoable } | { readonly type: 'nothing-to-undo' }

/** Undoes the newest action in force: a compaction, or all edits of one action. */
export async function undoNewest({ conversation, tracker }: Runtime): Promise<UndoOutcome> {
  await conversation.loadOlderEntries()
  const changes = conversation.lastAction()
  const [change] = changes
  if (!change) return { type: 'nothing-to-undo' }
  const edits = changes.map(({ uuid }) => readEdit(conversation.record(uuid) ?? {}))
  const snipped = edits.reduce((sum, edit) => sum + ((edit?.type === 'drop-range' && edit.freed) || 0), 0)
  conversation.edit(changes.map(({ uuid }) => ({ type: 'undo', uuid })))
  tracker.viewChange()
  tracker.snipped(-snipped)
  return { type: 'undone', change }
}

export function snipRange(runtime: Runtime, input: SnipInput): EditOutcome {
  const { conversation, gauge, tracker } = runtime
  const view = conversation.view()
  const plan = snip(input).plan(view, gauge.situation(view))
  if (plan.type === 'declined') return { type: 'declined', why: plan.why }
  if (plan.type !== 'reduced') throw new Error('A snip asked the server for something.')
  reduceView(runtime, plan)
  tracker.snipped(plan.freed)
  tracker.changeBreaker(afterChange)
  return { type: 'done', freed: plan.freed }
}

/** Pins, unpins or rewinds: edits that name one entry, which must exist. */
export async function editEntry(
  { conversation, tracker }: Runtime,
  edit: Extract<Edit, { readonly type: 'pin' | 'unpin' | 'rewind' }>,
  options: UndoOptions = {},
): Promise<EditOutcome> {
  const uuid = edit.type === 'rewind' ? edit.to : edit.uuid
  if (edit.type === 'rewind' || !conversation.record(uuid)) await conversation.loadOlderEntries()
  if (!conversation.record(uuid)) return { type: 'declined', why: `There is no entry ${uuid} in this session.` }
  const why = pinProblem(conversation.view(), edit)
  if (why !== undefined) return { type: 'declined', why }
  conversation.edit([edit], options)
  if (edit.type === 'rewind') {
    tracker.viewChange()
    tracker.set({ freedBySnips: 0 })
  }
  return { type: 'done', freed: 0 }
}

/** Begins an empty context. Earlier messages stay in the transcript. */
export async function clearContext({ conversation, tracker }: Runtime, options: UndoOptions): Promise<void> {
  const everlong = { isCleared: true, ...undoFields(options) }
  conversation.append([{ ...boundaryBody, content: 'Conversation cleared', everlong }])
  tracker.viewChange()
  tracker.set({ freedBySnips: 0 })
}

export type Switched = {
  readonly type: 'switched'
  readonly from: string
  readonly to: string
  /** Set if the history did not fit the new model. */
  readonly compaction?: Compacted | Failed
}

/**
 * Switches to another model. If the history does not fit its window, the old model, which can still read all of it,
 * compacts first. Throws a ConfigurationError, before anything is changed, when the settings cannot work with it.
 */
export async function switchModel(
  runtime: Runtime,
  choice: ModelChoice,
  signal: AbortSignalPort | undefined,
): Promise<Switched> {
  const { conversation, gauge, tracker } = runtime
  const { name: from } = gauge.model()
  await gauge.describe(choice)
  const { autoCompact, isAboveThreshold, isBlocking } = gauge.situation(conversation.view(), choice).explanation
  const isTooMuch = autoCompact.mode !== false && (isAboveThreshold || isBlocking)
  const compaction = isTooMuch ? await compactNow(runtime, { cause: 'model-switch', fits: choice, signal }) : undefined
  gauge.useModel(choice)
  tracker.askServer(undefined)
  tracker.viewChange()
  tracker.changeBreaker(afterChange)
  return { type: 'switched', from, to: choice.name, ...defined({ compaction }) }
}
