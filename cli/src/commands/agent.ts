// `everlong agent`
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Cli } from '../command.ts'
import { collect, wholeNumber } from '../option-values.ts'
import type { AgentOptions } from './agent/options.ts'

export function agentCommand({ io, setExitCode }: Cli): Command {
  return new Command('agent')
    .description('work with a coding agent in a folder')
    .argument('[folder]', 'the folder to work in', '.')
    .option('-p, --prompt [text]', 'run one prompt without a screen; piped input is added to it')
    .addOption(new Option('--output <form>', 'how -p prints').choices(['text', 'json', 'stream-json']).default('text'))
    .addOption(new Option('-c, --continue', 'continue the newest session of this folder').conflicts('resume'))
    .option('-r, --resume [id]', 'continue a session by its id or name, or choose from a list')
    .option('--fork', 'with --continue or --resume: continue in a copy')
    .option('--model <model>', 'anthropic:MODEL[@URL], openai:MODEL[@URL] or demo')
    .addOption(
      new Option('--permission-mode <mode>', 'what may happen without a question').choices([
        'ask',
        'accept-edits',
        'plan',
        'allow',
      ]),
    )
    .option('--allow <rule>', 'allow what matches, such as "Bash(npm test)"; repeatable', collect)
    .option('--deny <rule>', 'deny what matches; repeatable', collect)
    .addOption(
      new Option('--sandbox <mode>', 'whether commands run in the sandbox').choices(['on', 'ask', 'required', 'off']),
    )
    .option('--max-turns <number>', 'stop after this many answers', atLeastOne)
    .option('--trust', "use this folder's settings for hooks, servers and permissions")
    .option('--plain', 'plain lines, for screen readers and simple terminals')
    .action(async (folder: string, options: AgentOptions) => {
      if (options.prompt === undefined) {
        const { agentOnScreen } = await import('./agent/screen.ts')
        setExitCode(await agentOnScreen(folder, options, io))
      } else {
        const { agentWithoutScreen } = await import('./agent/headless.ts')
        setExitCode(await agentWithoutScreen(folder, options, io))
      }
    })
}

function atLeastOne(text: string): number {
  const value = wholeNumber(text)
  if (value === 0) throw new InvalidArgumentError('Give a number of at least 1.')
  return value
}
