// The memory of an editor: earlier texts, which Ctrl+_ restores, and deleted text, which Ctrl+Y inserts. Pure.
import type { Paste } from './pastes.ts'

export type Editor = {
  readonly text: string
  /** An index into the text. */
  readonly cursor: number
  /** The texts that the marks replace. */
  readonly pastes: readonly Paste[]
  readonly memory: Memory
}

export type Memory = {
  /** Earlier texts, the newest last. */
  readonly past: readonly Pick<Editor, 'text' | 'cursor' | 'pastes'>[]
  /** The text that was last deleted by word or line, with its pastes. */
  readonly deleted: { readonly text: string; readonly pastes: readonly Paste[] }
  /** The last key. Letters typed in a row are undone word by word; deletions in a row are one text. */
  readonly last: 'typed' | 'deleted' | 'other'
}

export const emptyMemory: Memory = { past: [], deleted: { text: '', pastes: [] }, last: 'other' }

const maxPast = 100

/** The editor after a change that Ctrl+_ can undo. Moving the cursor alone is not such a change. */
export function replaced(before: Editor, after: Editor): Editor {
  const { text, cursor, pastes, memory } = before
  const past = after.text === text ? memory.past : [...memory.past, { text, cursor, pastes }].slice(-maxPast)
  return { ...after, memory: { ...memory, past, last: 'other' } }
}

export function typed(before: Editor, after: Editor): Editor {
  const { memory } = replaced(before, after)
  const added = after.text.slice(before.cursor, after.cursor)
  const startsWord = /\s$/.test(before.text.slice(0, before.cursor)) && !/^\s/.test(added)
  const isSameWord = before.memory.last === 'typed' && !startsWord
  return { ...after, memory: { ...memory, last: 'typed', ...(isSameWord ? { past: before.memory.past } : {}) } }
}

export function deleted(before: Editor, after: Editor): Editor {
  const { memory } = replaced(before, after)
  const gone = before.text.slice(after.cursor, after.cursor + before.text.length - after.text.length)
  if (gone === '') return { ...after, memory: { ...before.memory, last: memory.last } }
  const earlier = before.memory.last === 'deleted' ? before.memory.deleted.text : ''
  const text = after.cursor < before.cursor ? gone + earlier : earlier + gone
  const pastes = before.pastes.filter(({ mark }) => text.includes(mark))
  return { ...after, memory: { ...memory, last: 'deleted', deleted: { text, pastes } } }
}

export function undone(editor: Editor): Editor {
  const { memory } = editor
  const before = memory.past.at(-1)
  return before ? { ...before, memory: { ...memory, past: memory.past.slice(0, -1), last: 'other' } } : editor
}
