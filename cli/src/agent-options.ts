// `everlong agent`: how it is called. What it does is in commands/agent.ts and agent-screen.ts.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { AgentWords } from './agent-words.ts'
import { collected, wholeNumber } from './option-values.ts'
import type { Surroundings } from './surroundings.ts'

export type AgentParts = { readonly end: (exitCode: number) => void; readonly surroundings: Surroundings }

export function addAgent(program: Command, { end, surroundings }: AgentParts): void {
  program
    .command('agent')
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
    .option('--allow <rule>', 'allow what matches, such as "Bash(npm test)"; repeatable', collected)
    .option('--deny <rule>', 'deny what matches; repeatable', collected)
    .option('--max-turns <number>', 'stop after this many answers', atLeastOne)
    .option('--trust', "use this folder's settings for hooks, servers and permissions")
    .option('--plain', 'plain lines, for screen readers and simple terminals')
    .action(async (folder: string, words: AgentWords) => {
      if (words.prompt === undefined) {
        const { agentOnScreen } = await import('./commands/agent-screen.ts')
        end(await agentOnScreen(folder, words, surroundings))
      } else {
        const { agentWithoutScreen } = await import('./commands/agent.ts')
        end(await agentWithoutScreen(folder, words, surroundings))
      }
    })
}

function atLeastOne(text: string): number {
  const value = wholeNumber(text)
  if (value === 0) throw new InvalidArgumentError('Give a number of at least 1.')
  return value
}
