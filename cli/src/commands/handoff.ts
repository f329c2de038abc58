// `everlong handoff`
import { type Command, Option } from 'commander'
import { type Cli, reportCommand, transcript } from '../command.ts'
import { modelForms, modelSpec } from '../option-values.ts'
import type { HandoffOptions } from './handoff/report.ts'

/** Repeated here so that --help need not load the formats; a test compares them. */
export const handoffTargets = ['markdown', 'claude-code', 'codex', 'opencode', 'pi'] as const

export function handoffCommand({ io, show }: Cli): Command {
  return reportCommand('handoff', 'hand a session over to a person or to another agent')
    .addArgument(transcript())
    .addOption(new Option('--to <target>', 'who continues').choices(handoffTargets).default('markdown'))
    .option('--model <model>', `who writes the summary: ${modelForms} (default: offline)`, modelSpec)
    .option('--instructions <text>', 'what the next one should know above all')
    .option('--folder <dir>', 'where the work continues (default: the folder of the session)')
    .option('--out <new>', 'write to this file, which must not exist')
    .action(async (file: string, options: HandoffOptions) => {
      const [{ gather }, { render }] = await Promise.all([import('./handoff/report.ts'), import('./handoff/screen.ts')])
      show(await gather(file, { ...options, io }), { ...options, render })
    })
}
