// The menu below the prompt: slash commands, or files after an `@`, that match what has been typed.
import type { TerminalState } from '../state/state.ts'
import { type Editor, editorWith } from './editor.ts'

export type MenuRow = {
  readonly name: string
  /** Arguments after the name. */
  readonly usage?: string
  readonly description: string
  /** The text after Tab completed it. */
  readonly completed: Editor
  /** The text that Enter sends at once. Without it, Enter completes as well. */
  readonly sent?: Editor
}

type Typed = Pick<TerminalState, 'editor' | 'commands' | 'completion' | 'found'>

/** Empty if nothing can be completed or the menu was closed. */
export function menuOf(typed: Typed): readonly MenuRow[] {
  if (typed.completion < 0) return []
  return [...commandRows(typed), ...fileRows(typed)]
}

/** Names that start with the typed text come first. */
function commandRows({ editor, commands }: Typed): readonly MenuRow[] {
  const typed = /^\/(\S*)$/.exec(editor.text)?.[1]?.toLowerCase()
  if (typed === undefined) return []
  const starting = commands.filter(({ name }) => name.startsWith(typed))
  const containing = commands.filter(({ name }) => !name.startsWith(typed) && name.includes(typed))
  return [...starting, ...containing].map((command) => {
    const name = `/${command.name}`
    // `<words>` must be given; `[words]` may be.
    const waits = (command.usage?.includes('<') ?? false) && editor.text.trim() !== name
    return { ...command, name, completed: editorWith(`${name} `), ...(waits ? {} : { sent: editorWith(name) }) }
  })
}

/** The text between an `@` and the cursor. */
export function mentionIn({ text, cursor }: Editor): string | undefined {
  return /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, cursor))?.[1]
}

function fileRows({ editor, found }: Typed): readonly MenuRow[] {
  const typed = mentionIn(editor)
  if (typed === undefined || found?.typed !== typed) return []
  const before = editor.text.slice(0, editor.cursor - typed.length)
  const after = editor.text.slice(editor.cursor)
  return found.files.map((file) => {
    const start = `${before}${/\s/.test(file) ? `"${file}"` : file} `
    return { name: `@${file}`, description: '', completed: { ...editor, text: start + after, cursor: start.length } }
  })
}
