// `everlong init`
import { type Command, Option } from 'commander'
import { type Cli, reportCommand } from '../command.ts'
import type { InitOptions } from './init/report.ts'

/** Repeated here so that --help need not load the parser; a test compares them. */
export const initSdks = [
  'anthropic',
  'ai-sdk',
  'langchain',
  'mastra',
  'openai',
  'openai-agents',
  'claude-agent-sdk',
] as const

export function initCommand({ io, show }: Cli): Command {
  return reportCommand('init', 'add Everlong to a project that calls a model')
    .argument('[folder]', 'the folder of its package.json', '.')
    .addOption(new Option('--sdk <name>', 'only this SDK (default: all that the project uses)').choices(initSdks))
    .option('--yes', 'apply the changes without asking')
    .option('--no-try', 'do not run the simulated conversation at the end')
    .action(async (folder: string, options: InitOptions) => {
      const [{ init }, { render }] = await Promise.all([import('./init/report.ts'), import('./init/screen.ts')])
      show(await init(folder, { ...options, io }), { ...options, render })
    })
}
