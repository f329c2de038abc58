// `everlong micro`
import { type Command, Option } from 'commander'
import { type Cli, type JsonOption, reportCommand, transcript, windowOptions } from '../command.ts'
import { collect, time, tokens, wholeNumber } from '../option-values.ts'
import type { MicroOptions } from './micro/report.ts'

type Options = MicroOptions & JsonOption & { readonly least?: number }

export function microCommand({ io, show }: Cli): Command {
  return windowOptions(reportCommand('micro', 'show which tool results to clear, and what it saves'))
    .addArgument(transcript())
    .option('--mechanism <name>', 'only this one, by its name in the report, such as by-size; repeatable', collect)
    .option('--now <time>', 'pretend that it is this time (default: now)', time)
    .option('--keep <number>', 'keep this many of the newest results', wholeNumber)
    .option('--target <tokens>', 'by size: clear until this many tokens of results remain', tokens)
    .option('--min-freed <tokens>', 'by size: clear at least this much, or nothing', tokens)
    .addOption(new Option('--least <tokens>', 'old name of --min-freed').argParser(tokens).hideHelp())
    .option('--always', 'by size: also below the warning threshold')
    .option('--turns <number>', 'expect this many more requests', wholeNumber)
    .option('--recall', 'mention the recall id in each placeholder')
    .option('--apply', 'append the first planned edit to the file')
    .action(async (file: string, { least, ...options }: Options, command: Command) => {
      const [{ gather, unknownMechanism }, { render }] = await Promise.all([
        import('./micro/report.ts'),
        import('./micro/screen.ts'),
      ])
      const problem = unknownMechanism(options.mechanism)
      if (problem !== undefined) command.error(`error: option '--mechanism <name>' ${problem}`)
      const minFreed = options.minFreed ?? least
      show(await gather(file, { ...options, ...(minFreed === undefined ? {} : { minFreed }), io }), {
        ...options,
        render,
      })
    })
}
