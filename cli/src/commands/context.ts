// `everlong context`
import type { Command } from 'commander'
import { type Cli, type JsonOption, reportCommand, transcript, windowOptions } from '../command.ts'
import { time } from '../option-values.ts'
import type { WindowChoice } from '../session.ts'

type ContextOptions = WindowChoice & JsonOption & { readonly explain?: boolean; readonly now?: number }

export function contextCommand({ io, show }: Cli): Command {
  const command = reportCommand('context', 'show what fills the context, and the thresholds')
    .addArgument(transcript())
    .option('--explain', 'explain every window and threshold, and forecast the next compaction')
    .option('--now <time>', '--explain: pretend that it is this time (default: now)', time)
  return windowOptions(command).action(async (file: string, options: ContextOptions) => {
    if (options.explain) {
      const { gather, render } = await import('./context/explain.ts')
      show(await gather(file, { ...options, io }), { ...options, render })
    } else {
      const { gather, render } = await import('./context/report.ts')
      show(await gather(file, { ...options, env: io.env }), { ...options, render })
    }
  })
}
