// One change of one file, as a function of its text: how to apply it and how to undo it. Does not touch the disk.
import { addToToml, removeFromToml } from './edit-toml.ts'
import type { Change } from './target.ts'

/** An applied change, with the data for undoing it. */
export type Made = { readonly type: 'file' } | { readonly type: 'toml'; readonly lines: string; readonly piece: string }

export type Refusal = {
  readonly type: 'refused'
  readonly path: string
  readonly why: string
  /** Advice for a person to do it by hand. */
  readonly todo: string
}

/** Undefined means that there is no file. */
export type FileText = string | undefined

export type ChangeResult = { readonly type: 'changed'; readonly text: FileText; readonly made?: Made } | Refusal

export function make(change: Change, text: FileText): ChangeResult {
  if (change.type === 'file') {
    if (text === undefined) return { type: 'changed', text: change.content, made: { type: 'file' } }
    return refused(change.path, 'it exists already, and everlong did not write it', 'Move it away, then try again.')
  }
  const added = addToToml(text ?? '', change.text, change.where ?? 'end')
  const todo = `Add at the ${change.where ?? 'end'} of the file:\n${change.text.trim()}`
  if (added.type === 'problem') return refused(change.path, added.why, added.todo ?? todo)
  return { type: 'changed', text: added.text, made: { type: 'toml', lines: change.text, piece: added.piece } }
}

/** `text` is the present file; `isNew` means that there was no file before the change. */
export function undo(path: string, made: Made, now: { text: string; isNew: boolean }): ChangeResult {
  if (made.type === 'file') {
    return refused(path, 'it was changed since everlong wrote it', 'Delete it or move it away, then try again.')
  }
  const removed = removeFromToml(now.text, made.lines, made.piece)
  if (removed.type === 'problem') return refused(path, removed.why, `Remove these lines:\n${made.lines.trim()}`)
  return { type: 'changed', text: now.isNew && removed.text.trim() === '' ? undefined : removed.text }
}

function refused(path: string, why: string, todo: string): Refusal {
  return { type: 'refused', path, why, todo }
}
