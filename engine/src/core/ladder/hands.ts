// What a person does to the context by hand: undo, snip, pin, rewind. Each is one more entry of the transcript.
import { type SnipInput, snip } from '../mechanisms/snip.ts'
import { type Edit, readEdit } from '../transcript/edits.ts'
import { withFreed } from './compaction.ts'
import { type Desk, situationIn, withSize } from './desk.ts'
import type { Undoable } from './retained.ts'
import { withChange, withViewChange } from './tracking.ts'

export type EditOutcome =
  | { readonly type: 'done'; readonly freed: number }
  | { readonly type: 'declined'; readonly why: string }

export type UndoOutcome = { readonly type: 'undone'; readonly change: Undoable } | { readonly type: 'nothing-to-undo' }

/** Takes back the newest edit or compaction that is in force. */
export function undoNewest(desk: Desk): UndoOutcome {
  const change = desk.conversation.newestChange()
  if (!change) return { type: 'nothing-to-undo' }
  const undone = readEdit(desk.conversation.record(change.uuid) ?? {})
  editView(desk, [{ type: 'undo', uuid: change.uuid }])
  const back = undone?.type === 'drop-range' ? (undone.freed ?? 0) : 0
  desk.tracking = { ...desk.tracking, freedBySnips: Math.max(0, desk.tracking.freedBySnips - back) }
  return { type: 'undone', change }
}

export function snipOut(desk: Desk, input: SnipInput): EditOutcome {
  const view = desk.conversation.view()
  const plan = snip(input).plan(view, situationIn(desk, view))
  if (plan.type === 'declined') return { type: 'declined', why: plan.detail }
  if (plan.outcome.type !== 'edits') throw new Error('A snip asked the server for something.')
  editView(desk, withSize(desk, withFreed(plan.outcome.edits, plan.freed)))
  const freedBySnips = desk.tracking.freedBySnips + plan.freed
  desk.tracking = withChange({ ...desk.tracking, freedBySnips })
  return { type: 'done', freed: plan.freed }
}

/** Pins, unpins, rewinds: edits that name one entry, which must be there. */
export function editAt(desk: Desk, uuid: string, edit: Edit): EditOutcome {
  const isKnown = desk.conversation.record(uuid) !== undefined || (edit.type === 'unpin' && desk.isPinned?.(uuid))
  if (!isKnown) return { type: 'declined', why: `There is no entry ${uuid} in this session.` }
  if (edit.type === 'pin' || edit.type === 'unpin') desk.conversation.edit([edit])
  else {
    editView(desk, [edit])
    desk.tracking = { ...desk.tracking, freedBySnips: 0 }
  }
  return { type: 'done', freed: 0 }
}

function editView(desk: Desk, edits: readonly Edit[]): void {
  desk.conversation.edit(edits)
  desk.tracking = withViewChange(desk.tracking)
}
