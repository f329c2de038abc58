// Slash commands that match what has been typed.
import type { CommandInfo } from '../host/protocol.ts'
import type { TerminalState } from '../state/state.ts'

/** Empty when no command is being typed, or the menu was closed. Names that start with it come first. */
export function completionsOf({
  editor,
  commands,
  completion,
}: Pick<TerminalState, 'editor' | 'commands' | 'completion'>): readonly CommandInfo[] {
  const typed = /^\/(\S*)$/.exec(editor.text)?.[1]?.toLowerCase()
  if (typed === undefined || completion < 0) return []
  const starting = commands.filter(({ name }) => name.startsWith(typed))
  const containing = commands.filter(({ name }) => !name.startsWith(typed) && name.includes(typed))
  return [...starting, ...containing]
}
