// The commands that edit a session's view by hand: how they are called. What they do is in commands/edit.ts.
import type { Command } from 'commander'
import type { EditReport, EditWish } from './commands/edit.ts'
import type { Outcome } from './outcome.ts'
import type { Screen } from './render/screen.ts'
import type { Surroundings } from './surroundings.ts'

export type EditingTools = {
  /** A command that takes a transcript and knows --json. */
  readonly command: (name: string, description: string) => Command
  readonly show: (
    outcome: Outcome<EditReport>,
    how: { readonly json?: boolean; readonly render: (report: EditReport, screen: Screen) => readonly string[] },
  ) => void
  readonly surroundings: Surroundings
}

type Shown = { readonly json?: boolean }

export function addEditing({ command, show, surroundings }: EditingTools): void {
  const edit = async (file: string, wish: EditWish, options: Shown) => {
    const { gather, render } = await import('./commands/edit.ts')
    show(await gather(file, wish, surroundings), { ...options, render })
  }
  command('snip', 'replace a range of messages in the context with one line')
    .argument('<from>', 'the uuid of the first entry to remove')
    .argument('<to>', 'the uuid of the last entry to remove')
    .option('--marker <text>', 'the line in its place (default: how much was removed)')
    .action((file: string, from: string, to: string, { marker, ...options }: Shown & { marker?: string }) =>
      edit(file, { command: 'snip', from, to, ...(marker === undefined ? {} : { marker }) }, options),
    )
  command('rewind', 'go back to an earlier point of the conversation')
    .argument('<uuid>', 'the entry to go back to')
    .action((file: string, to: string, options: Shown) => edit(file, { command: 'rewind', to }, options))
  command('pin', 'protect an entry from being cleared or summarized')
    .argument('<uuid>', 'the entry to keep')
    .action((file: string, uuid: string, options: Shown) => edit(file, { command: 'pin', uuid }, options))
  command('unpin', 'remove a pin')
    .argument('<uuid>', 'the entry that was pinned')
    .action((file: string, uuid: string, options: Shown) => edit(file, { command: 'unpin', uuid }, options))
}
