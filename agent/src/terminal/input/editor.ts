// The text that a person is typing, with its cursor. Long pastes are folded into a mark. Pure: text and key in, text out.

import type { Prompt } from '../../app.ts'
import { charactersOf } from '../../render/width.ts'
import type { Press } from './keys.ts'
import { deleted, type Editor, emptyMemory, replaced, typed, undone } from './memory.ts'
import { adoptPastes, attachImage, foldPaste, type Image, markAt, markBefore } from './pastes.ts'

export type { Editor } from './memory.ts'

export const emptyEditor: Editor = { text: '', cursor: 0, pastes: [], memory: emptyMemory }

export function editorWith(text: string): Editor {
  return { ...emptyEditor, text, cursor: text.length }
}

/** After the text was sent. Deleted text can still be inserted. */
export function emptied({ memory: { deleted: kept } }: Editor): Editor {
  return { ...emptyEditor, memory: { ...emptyMemory, deleted: kept } }
}

/** Undefined if the key does not edit. */
export function edit(editor: Editor, press: Press): Editor | undefined {
  if (press.key === 'text') return typed(editor, insert(editor, press.text ?? ''))
  if (press.key === 'paste') return replaced(editor, paste(editor, press.text ?? ''))
  if (undoKeys.has(press.key)) return undone(editor)
  const removal = removals[press.key]
  if (removal) return deleted(editor, removal(editor))
  const change = changes[press.key]
  return change && replaced(editor, change(editor))
}

export function insert(editor: Editor, text: string): Editor {
  const { cursor } = editor
  return {
    ...editor,
    text: editor.text.slice(0, cursor) + text + editor.text.slice(cursor),
    cursor: cursor + text.length,
  }
}

function paste(editor: Editor, pasted: string): Editor {
  const folded = foldPaste(pasted, editor.pastes)
  return insert({ ...editor, pastes: folded.pastes }, folded.shown)
}

export function withImage(editor: Editor, name: string, image: Image): Editor {
  const attached = attachImage(name, image, editor.pastes)
  return replaced(editor, insert({ ...editor, pastes: attached.pastes }, attached.shown))
}

/** The prompt to send: every mark replaced by its text, and the images whose marks are still there. */
export function promptOf({ text, pastes }: Editor): Prompt {
  const whole = pastes.reduce((before, { mark, text: pasted }) => before.replaceAll(mark, () => pasted), text)
  const images = pastes.flatMap(({ mark, image }) => (image && text.includes(mark) ? [image] : []))
  return { text: whole.trim(), ...(images.length > 0 ? { images } : {}) }
}

/** The line of the cursor, and the number of lines. */
export function lineOf({ text, cursor }: Editor): { readonly line: number; readonly lines: number } {
  return { line: text.slice(0, cursor).split('\n').length - 1, lines: text.split('\n').length }
}

type Change = (editor: Editor) => Editor

const moveTo =
  (cursor: (editor: Editor) => number): Change =>
  (editor) => ({ ...editor, cursor: cursor(editor) })

const removeTo =
  (end: (editor: Editor) => number): Change =>
  (editor) => {
    const [from, to] = [Math.min(editor.cursor, end(editor)), Math.max(editor.cursor, end(editor))]
    return { ...editor, text: editor.text.slice(0, from) + editor.text.slice(to), cursor: from }
  }

function left({ text, cursor, pastes }: Editor): number {
  const mark = markBefore(text, cursor, pastes)
  if (mark !== undefined) return cursor - mark.length
  return cursor - (charactersOf(text.slice(0, cursor)).at(-1)?.length ?? 0)
}

function right({ text, cursor, pastes }: Editor): number {
  const mark = markAt(text, cursor, pastes)
  if (mark !== undefined) return cursor + mark.length
  return cursor + (charactersOf(text.slice(cursor))[0]?.length ?? 0)
}

function wordLeft(editor: Editor): number {
  const { text, cursor, pastes } = editor
  if (markBefore(text, cursor, pastes) !== undefined) return left(editor)
  return cursor - (/[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0)
}

function wordRight(editor: Editor): number {
  const { text, cursor } = editor
  return cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0)
}

/** Up to the space before it, as a shell deletes words. */
function spaceLeft({ text, cursor }: Editor): number {
  return cursor - (/\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0)
}

function lineStart({ text, cursor }: Editor): number {
  return text.lastIndexOf('\n', cursor - 1) + 1
}

function lineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf('\n', cursor)
  return end < 0 ? text.length : end
}

function vertical(by: -1 | 1): Change {
  return (editor) => {
    const lines = editor.text.split('\n')
    const { line } = lineOf(editor)
    const target = lines[line + by]
    if (target === undefined) return editor
    const column = Math.min(target.length, editor.cursor - lineStart(editor))
    const before = lines.slice(0, line + by).reduce((sum, { length }) => sum + length + 1, 0)
    return { ...editor, cursor: before + column }
  }
}

const newLine: Change = (editor) => insert(editor, '\n')

const insertDeleted: Change = (editor) => {
  const { shown, pastes } = adoptPastes(editor.memory.deleted, editor.pastes)
  return insert({ ...editor, pastes }, shown)
}

/** Ctrl+_, as terminals report it: most send the same for Ctrl+/, and some send the key without Shift. */
const undoKeys: ReadonlySet<string> = new Set(['ctrl+_', 'ctrl+/', 'ctrl+-'])

/** Ctrl+Y inserts the text that these delete. */
const removals: Readonly<Record<string, Change>> = {
  'ctrl+w': removeTo(spaceLeft),
  'alt+backspace': removeTo(wordLeft),
  'ctrl+backspace': removeTo(wordLeft),
  'alt+delete': removeTo(wordRight),
  'alt+d': removeTo(wordRight),
  'ctrl+u': removeTo(lineStart),
  'ctrl+k': removeTo(lineEnd),
}

const changes: Readonly<Record<string, Change>> = {
  left: moveTo(left),
  'ctrl+b': moveTo(left),
  right: moveTo(right),
  'ctrl+f': moveTo(right),
  'alt+left': moveTo(wordLeft),
  'ctrl+left': moveTo(wordLeft),
  'alt+b': moveTo(wordLeft),
  'alt+right': moveTo(wordRight),
  'ctrl+right': moveTo(wordRight),
  'alt+f': moveTo(wordRight),
  home: moveTo(lineStart),
  'ctrl+a': moveTo(lineStart),
  end: moveTo(lineEnd),
  'ctrl+e': moveTo(lineEnd),
  up: vertical(-1),
  down: vertical(1),
  backspace: removeTo(left),
  'ctrl+h': removeTo(left),
  delete: removeTo(right),
  'ctrl+y': insertDeleted,
  'shift+enter': newLine,
  'alt+enter': newLine,
  'ctrl+j': newLine,
}
