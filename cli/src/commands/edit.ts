// `everlong edit snip|rewind|pin|unpin`
import { Command } from 'commander'
import { type Cli, type JsonOption, reportCommand, transcript } from '../command.ts'
import type { RequestedEdit } from './edit/report.ts'

export function editCommand({ io, show }: Cli): Command {
  const edit = async (file: string, requested: RequestedEdit, options: JsonOption) => {
    const { gather, render } = await import('./edit/report.ts')
    show(await gather(file, requested, io), { ...options, render })
  }
  const subcommand = (name: string, description: string) => reportCommand(name, description).addArgument(transcript())
  return new Command('edit')
    .usage('<action> <file> …')
    .helpCommand(false)
    .description('snip, rewind, pin or unpin messages')
    .addCommand(
      subcommand('snip', 'replace a range of messages in the context with one line')
        .argument('<from>', 'the uuid of the first entry to remove')
        .argument('<to>', 'the uuid of the last entry to remove')
        .option('--marker <text>', 'the line in its place (default: how much was removed)')
        .action((file: string, from: string, to: string, options: JsonOption & { marker?: string }) =>
          edit(
            file,
            { command: 'snip', from, to, ...(options.marker === undefined ? {} : { marker: options.marker }) },
            options,
          ),
        ),
    )
    .addCommand(
      subcommand('rewind', 'go back to an earlier point of the conversation')
        .argument('<uuid>', 'the entry to go back to')
        .action((file: string, to: string, options: JsonOption) => edit(file, { command: 'rewind', to }, options)),
    )
    .addCommand(
      subcommand('pin', 'protect an entry from being cleared or summarized')
        .argument('<uuid>', 'the entry to keep')
        .action((file: string, uuid: string, options: JsonOption) => edit(file, { command: 'pin', uuid }, options)),
    )
    .addCommand(
      subcommand('unpin', 'remove a pin')
        .argument('<uuid>', 'the entry that was pinned')
        .action((file: string, uuid: string, options: JsonOption) => edit(file, { command: 'unpin', uuid }, options)),
    )
}
