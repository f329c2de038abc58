// `everlong repair`
import type { Command } from 'commander'
import { type Cli, type JsonOption, reportCommand, transcript } from '../command.ts'

export function repairCommand({ show }: Cli): Command {
  return reportCommand('repair', 'check a file; --out writes a repaired copy')
    .addArgument(transcript())
    .option('--out <new>', 'write a repaired copy to this file, which must not exist')
    .action(async (file: string, { out, ...options }: JsonOption & { out?: string }) => {
      if (out === undefined) {
        const { gather, render } = await import('./repair/check.ts')
        show(gather(file), { ...options, render })
      } else {
        const { gather, render } = await import('./repair/repair.ts')
        show(gather(file, out), { ...options, render })
      }
    })
}
