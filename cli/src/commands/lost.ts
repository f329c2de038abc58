// `everlong lost`
import type { Command } from 'commander'
import { type Cli, type JsonOption, reportCommand } from '../command.ts'
import { wholeNumber } from '../option-values.ts'

type LostOptions = JsonOption & { readonly all?: boolean; readonly limit: number }

export function lostCommand({ io, show }: Cli): Command {
  return reportCommand('lost', 'show what compactions lost: instructions, decisions')
    .argument('[path...]', 'transcripts, or folders that contain some (default: the agents on this machine)')
    .option('--all', 'show everything that was lost, not only one screen')
    .option('--limit <sessions>', 'read only the newest sessions; 0 reads all', wholeNumber, 100)
    .action(async (paths: readonly string[], options: LostOptions) => {
      const [{ gather }, { render }] = await Promise.all([import('./lost/gather.ts'), import('./lost/screen.ts')])
      show(await gather(paths, { ...options, io }), {
        ...options,
        render: (report, screen) => render(report, screen, options),
      })
    })
}
