// `everlong view`
import { Command } from 'commander'
import type { Cli } from '../command.ts'
import { portNumber } from '../option-values.ts'
import type { ViewOptions } from './view/serve.ts'

export function viewCommand({ io, show }: Cli): Command {
  return new Command('view')
    .description('show sessions and their compactions in a browser')
    .argument('[path...]', 'transcripts, or folders that contain some (default: the agents on this machine)')
    .option('--port <number>', 'the port to listen on; 0 picks a free one', portNumber, 0)
    .option('--no-open', 'do not open a browser')
    .option('--out <file>', 'write one session to a page that needs no server, without secrets')
    .option('--comment <text>', 'with --out: what to say at its top')
    .option('--no-content', 'show and write numbers only: no texts, titles, paths or names')
    .action(async (paths: readonly string[], options: ViewOptions) => {
      const { view } = await import('./view/serve.ts')
      show(await view(paths, { ...options, io }), { render: () => [] })
    })
}
