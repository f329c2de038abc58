// `everlong undo`
import type { Command } from 'commander'
import { type Cli, type JsonOption, reportCommand, transcript } from '../command.ts'
import { collect } from '../option-values.ts'

export function undoCommand({ io, show }: Cli): Command {
  return reportCommand('undo', 'undo the last action on a session')
    .addArgument(transcript())
    .option('--edit <uuid>', 'undo this edit, undo or compaction instead; repeatable', collect)
    .action(async (file: string, options: JsonOption & { edit?: readonly string[] }) => {
      const { gather, render } = await import('./edit/undo.ts')
      show(await gather(file, { ...options, io }), { ...options, render })
    })
}
