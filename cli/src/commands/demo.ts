// `everlong demo`
import { Command } from 'commander'
import type { Cli } from '../command.ts'
import type { DemoOptions } from './demo/demo.ts'

export function demoCommand({ io, show, setExitCode }: Cli): Command {
  return new Command('demo')
    .description('watch a simulated agent go through compactions')
    .option('--fast', 'no pauses for reading')
    .option('--folder <path>', 'keep the session in this folder (default: a temporary folder)')
    .action(async (options: DemoOptions) => {
      const { demoOnScreen, fitsScreen } = await import('./demo/on-screen.ts')
      const outcome = fitsScreen(options, io)
        ? await demoOnScreen(options, io)
        : await (await import('./demo/demo.ts')).demo(options, io)
      show<number | undefined>(outcome, { render: () => [] })
      if (outcome.type === 'gathered') setExitCode(outcome.report ?? 0)
    })
}
