// `everlong memory`
import type { Command } from 'commander'
import { type Cli, reportCommand, transcript } from '../command.ts'
import type { MemoryOptions } from './memory/report.ts'

export function memoryCommand({ io, show }: Cli): Command {
  return reportCommand('memory', 'show or draft the notes of session memory')
    .addArgument(transcript())
    .option('--write', 'save drafted notes next to the session')
    .action(async (file: string, options: MemoryOptions) => {
      const { gather, render } = await import('./memory/report.ts')
      show(await gather(file, { ...options, io }), { ...options, render })
    })
}
