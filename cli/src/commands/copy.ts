// `everlong copy`
import type { Command } from 'commander'
import { type Cli, type JsonOption, reportCommand } from '../command.ts'

export function copyCommand({ show }: Cli): Command {
  return reportCommand('copy', 'copy sessions between folders and databases')
    .argument('<from>', 'a transcript, a folder of them, or a store URL')
    .argument('<to>', 'a folder, or a store URL')
    .action(async (from: string, to: string, options: JsonOption) => {
      const { gather, render } = await import('./copy/report.ts')
      show(await gather(from, to), { ...options, render })
    })
}
