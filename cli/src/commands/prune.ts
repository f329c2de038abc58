// `everlong prune`
import type { Command } from 'commander'
import { type Cli, reportCommand } from '../command.ts'
import { wholeNumber } from '../option-values.ts'
import type { PruneOptions } from './prune/report.ts'

export function pruneCommand({ io, show }: Cli): Command {
  return reportCommand('prune', 'remove sessions that nobody has used for a long time')
    .argument('<path>', 'a folder of transcripts, one transcript, or a store URL')
    .option('--days <number>', 'remove sessions unchanged for this many days', wholeNumber, 90)
    .option('--yes', 'remove them without asking')
    .action(async (path: string, options: PruneOptions) => {
      const { gather, render } = await import('./prune/report.ts')
      show(await gather(path, { ...options, io }), { ...options, render })
    })
}
