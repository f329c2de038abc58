// `everlong recall`
import type { Command } from 'commander'
import { type Cli, type JsonOption, reportCommand } from '../command.ts'
import { day, kind, kinds, wholeNumber } from '../option-values.ts'
import type { RecallOptions } from './recall/report.ts'

export function recallCommand({ io, show }: Cli): Command {
  return reportCommand('recall', 'search transcripts, or read one message by its id')
    .argument('<path>', 'a transcript, or a folder that contains some')
    .argument('[words...]', 'words, "phrases", prefix*, paths, identifiers')
    .option('--read <id>', 'read this instead of searching: an id from a search, a uuid, a tool use id')
    .option('--tool <name>', 'only calls of this tool and their results')
    .option('--path <path>', 'only calls that name this file or folder')
    .option('--kind <kind>', `only this kind: ${kinds.join(', ')}`, kind)
    .option('--epoch <number>', 'only this epoch', wholeNumber)
    .option('--since <time>', 'only from this time on', day)
    .option('--until <time>', 'only up to this time', day)
    .option('--newest', 'newest first instead of best first')
    .option('--limit <number>', 'the maximum number of matches', wholeNumber, 10)
    .action(async (path: string, words: readonly string[], options: RecallOptions & JsonOption) => {
      const { gather, render } = await import('./recall/report.ts')
      show(gather(path, words, { ...options, io }), { ...options, render })
    })
}
