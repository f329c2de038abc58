// `everlong undo`: reverses the last change of a session's view by appending an undo. Removes nothing.

import { count, counted, visible } from '@everlong/agent/render'
import { readBoundary, readEdit } from 'everlong/internal'
import type { ContextSize } from 'everlong/internal/compaction'
import { applyEdits, type Transcript } from 'everlong/internal/node'
import type { Edit } from 'everlong/mechanisms'
import type { Io } from '../../io.ts'
import { failed, gathered, noTranscript, type Outcome, opening } from '../../outcome.ts'
import { heading, paragraph, type Screen } from '../../render/screen.ts'
import { openFile } from '../../session.ts'

export type UndoReport = {
  readonly path: string
  /** The reversed changes, newest first. */
  readonly undone: readonly { readonly uuid: string; readonly type: string; readonly mechanism: string | undefined }[]
  /** The appended entries. Undoing one of them restores what it reversed. */
  readonly uuids: readonly string[]
  readonly before: ContextSize
  readonly after: ContextSize
}

export type UndoOptions = { readonly edit?: readonly string[]; readonly io: Io }

type Target = UndoReport['undone'][number]

export async function gather(path: string, { edit, io }: UndoOptions): Promise<Outcome<UndoReport>> {
  const open = (whole = false) => opening(path, async () => gathered(await openFile(path, { env: io.env, whole })))
  // A named edit may be older than the last compaction.
  const opened = await open(edit !== undefined)
  if (opened.type === 'failed') return opened
  const { transcript: file, session } = opened.report
  const strange = edit?.find((uuid) => named(file, uuid) === undefined)
  const asked = edit?.map((uuid) => named(file, uuid)).filter((found) => found !== undefined)
  const undone = asked ?? lastAction(file)
  if (strange !== undefined || undone.length === 0) return failed(whyNothing(file, strange))
  const undos = undone.map(({ uuid }): Edit => ({ type: 'undo', uuid, reason: 'asked for on the command line' }))
  const applied = await applyEdits(file, undos, { owner: 'everlong undo', now: io.now() })
  if (applied.type === 'not-applied') return failed(`nothing changed. ${applied.why}`)
  const edited = await open()
  if (edited.type === 'failed') return edited
  const sizes = { before: session.explain().size, after: edited.report.session.explain().size }
  return gathered({ path, undone, uuids: applied.uuids, ...sizes })
}

function lastAction(file: Transcript): readonly Target[] {
  return file.lastAction.toReversed().map(({ uuid, type, mechanism }) => ({ uuid, type, mechanism }))
}

/** An edit in force, an undo or a rewind, or a compaction by the uuid of its boundary. */
function named({ view, entry }: Transcript, uuid: string): Target | undefined {
  const record = entry(uuid)?.record
  const turn = record && readEdit(record)
  const isTurn = turn?.type === 'undo' || turn?.type === 'rewind'
  const edit = view.edits.find((found) => found.uuid === uuid)?.edit ?? (isTurn ? turn : undefined)
  if (edit) return { uuid, type: edit.type, mechanism: edit.mechanism }
  return record && readBoundary(record) ? { uuid, type: 'compaction', mechanism: undefined } : undefined
}

function whyNothing({ path, bytes, view }: Transcript, edit: string | undefined): string {
  if (view.messages.length === 0) return noTranscript(path, bytes)
  if (edit !== undefined) return `${visible(edit)} is neither an active edit nor a compaction of ${visible(path)}.`
  return `there is nothing to undo in ${visible(path)}: no edit and no compaction is active.`
}

export function render({ path, undone, uuids, before, after }: UndoReport, screen: Screen): readonly string[] {
  const what = undone.map(({ type, mechanism }) => visible(mechanism === undefined ? type : `${type} of ${mechanism}`))
  return [
    heading(`Undid ${undone[0]?.type === 'compaction' ? 'a compaction' : counted(undone.length, 'edit')}`, screen),
    ...paragraph(what.join(', '), screen),
    ...paragraph(`${count(before.tokens)} tokens before, ${count(after.tokens)} now`, screen),
    ...paragraph(
      `To redo it: everlong undo ${visible(path)}${uuids.map((uuid) => ` --edit ${uuid}`).join('')}`,
      screen,
    ),
  ]
}
