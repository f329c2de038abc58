// `everlong compact`
import { type Command, Option } from 'commander'
import { type Cli, reportCommand, transcript } from '../command.ts'
import { modelForms, modelSpec, tokens } from '../option-values.ts'
import type { CompactOptions } from './compact/report.ts'

export function compactCommand({ io, show }: Cli): Command {
  return reportCommand('compact', 'build the context to continue with')
    .addArgument(transcript())
    .option('--before <uuid>', 'as of this entry; for a boundary, what its compaction was given')
    .addOption(new Option('--from <uuid>', 'summarize from this message on, keep what is before it').conflicts('upTo'))
    .option('--up-to <uuid>', 'summarize everything before this message, keep the rest')
    .option('--model <model>', `${modelForms} (default: offline)`, modelSpec)
    .option('--instructions <text>', 'what the summary should focus on')
    .option('--budget <tokens>', 'the size limit of the new context', tokens)
    .option('--dry-run', 'show the plan and do nothing')
    .option('--out <new>', 'write the compacted session to this file, which must not exist')
    .addOption(new Option('--append', 'append the compaction to the session').conflicts(['out', 'before', 'dryRun']))
    .action(async (file: string, options: CompactOptions) => {
      const [{ gather }, { render }] = await Promise.all([import('./compact/report.ts'), import('./compact/screen.ts')])
      show(await gather(file, { ...options, io }), { ...options, render })
    })
}
