// One change to one file, as a function of its text: how it is made, and how it is taken back. Nothing here touches the disk.
import { addToJson, isEmptyJson, type JsonEdit, type JsonMark, newJson, removeFromJson } from './edit-json.ts'
import { addToToml, removeFromToml } from './edit-toml.ts'
import type { Change } from './target.ts'

/** A change that was made, with what taking it back needs to know. */
export type Made =
  | { readonly type: 'file' }
  | { readonly type: 'json'; readonly edit: JsonEdit; readonly mark: JsonMark }
  | { readonly type: 'toml'; readonly lines: string; readonly piece: string }

export type Refusal = {
  readonly type: 'refused'
  readonly path: string
  readonly why: string
  /** What to do by hand instead, for a person. */
  readonly todo: string
}

/** Undefined stands for a file that is not there. */
export type FileText = string | undefined

/** `made` is left out where the file held the same value already, which is then not ours. */
export type ChangeResult = { readonly type: 'changed'; readonly text: FileText; readonly made?: Made } | Refusal

export function make(change: Change, text: FileText): ChangeResult {
  if (change.type === 'file') {
    if (text === undefined) return { type: 'changed', text: change.content, made: { type: 'file' } }
    return refused(change.path, 'it exists already, and everlong did not write it', 'Move it away, then try again.')
  }
  if (change.type === 'toml') {
    const added = addToToml(text ?? '', change.text, change.where ?? 'end')
    const todo = `Add at the ${change.where ?? 'end'} of the file:\n${change.text.trim()}`
    if (added.type === 'problem') return refused(change.path, added.why, added.todo ?? todo)
    return { type: 'changed', text: added.text, made: { type: 'toml', lines: change.text, piece: added.piece } }
  }
  const edit = jsonEdit(change)
  // An empty file means no settings to the agents that read it.
  if (text === undefined || text.trim() === '') {
    const mark = { existing: 0, tail: '' }
    return { type: 'changed', text: newJson(edit), made: { type: 'json', edit, mark } }
  }
  const added = addToJson(text, edit)
  if (added.type === 'present') return { type: 'changed', text }
  if (added.type === 'problem') return refused(change.path, added.why, jsonTodo('Add', edit))
  return { type: 'changed', text: added.text, made: { type: 'json', edit, mark: added.mark } }
}

/** `text` is the file as it is now; `isNew` says that there was no file before the change. */
export function takeBack(path: string, made: Made, now: { text: string; isNew: boolean }): ChangeResult {
  if (made.type === 'file') {
    return refused(path, 'it was changed since everlong wrote it', 'Delete it or move it away, then try again.')
  }
  if (made.type === 'toml') {
    const removed = removeFromToml(now.text, made.lines, made.piece)
    if (removed.type === 'problem') return refused(path, removed.why, `Remove these lines:\n${made.lines.trim()}`)
    return { type: 'changed', text: now.isNew && removed.text.trim() === '' ? undefined : removed.text }
  }
  const removed = removeFromJson(now.text, made.edit, made.mark)
  if (removed.type === 'problem') return refused(path, removed.why, jsonTodo('Remove', made.edit))
  return { type: 'changed', text: now.isNew && isEmptyJson(removed.text) ? undefined : removed.text }
}

function jsonEdit({ type, at, value }: Extract<Change, { type: 'json' | 'json-item' }>): JsonEdit {
  if (type === 'json-item') return { at, value }
  const key = at.at(-1)
  if (key === undefined) throw new Error('A JSON change needs the name of its value.')
  return { at: at.slice(0, -1), key, value }
}

function jsonTodo(verb: 'Add' | 'Remove', { at, key, value }: JsonEdit): string {
  const json = JSON.stringify(value, null, 2)
  if (key === undefined) return `${verb} this element of the list ${at.join('.')}:\n${json}`
  return `${verb} this value at ${[...at, key].join('.')}:\n${json}`
}

function refused(path: string, why: string, todo: string): Refusal {
  return { type: 'refused', path, why, todo }
}
