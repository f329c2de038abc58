// What a person does to the context by hand: undo, snip, pin, rewind. Each is one more entry of the transcript.

import { withFreed } from '../ladder/compaction.ts'
import { type SnipInput, snip } from '../mechanisms/snip.ts'
import { type Edit, readEdit } from '../transcript/format/edits.ts'
import type { Undoable } from '../transcript/view/last-action.ts'
import { type Desk, situationIn, withSize } from './desk.ts'
import { withChange, withViewChange } from './tracking.ts'

export type EditOutcome =
  | { readonly type: 'done'; readonly freed: number }
  | { readonly type: 'declined'; readonly why: string }

/** `change` is the first of what the action did. */
export type UndoOutcome = { readonly type: 'undone'; readonly change: Undoable } | { readonly type: 'nothing-to-undo' }

/** Takes back the newest action in force: a compaction, or every edit that was made together. */
export function undoNewest(desk: Desk): UndoOutcome {
  const changes = desk.conversation.lastAction()
  const [change] = changes
  if (!change) return { type: 'nothing-to-undo' }
  const snipped = changes.reduce((sum, { uuid }) => sum + freedBySnip(desk, uuid), 0)
  editView(
    desk,
    changes.map(({ uuid }) => ({ type: 'undo', uuid })),
  )
  desk.tracking = { ...desk.tracking, freedBySnips: Math.max(0, desk.tracking.freedBySnips - snipped) }
  return { type: 'undone', change }
}

function freedBySnip({ conversation }: Desk, uuid: string): number {
  const edit = readEdit(conversation.record(uuid) ?? {})
  return edit?.type === 'drop-range' ? (edit.freed ?? 0) : 0
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
  if (!desk.conversation.record(uuid)) return { type: 'declined', why: `There is no entry ${uuid} in this session.` }
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
