// Finds and runs a slash command. A mistake is answered with a correction.

import type { CommandResult } from '../app.ts'
import { reasonOf } from '../reason-of.ts'
import { hooks, mcp, skills, status } from './about.ts'
import { type CommandContext, error, type SlashCommand, text } from './command.ts'
import { compact } from './compact.ts'
import { config } from './config.ts'
import { pin, recall, snip, undo, unpin } from './edits.ts'
import { runOwn } from './own.ts'
import { context, cost, explain, memory } from './reports.ts'
import { rewind } from './rewind.ts'
import { clear, fork, rename, resume } from './sessions.ts'
import { model, permissions } from './setup.ts'
import { tasks } from './tasks.ts'
import { todos } from './todos.ts'
import { addDir, exportConversation, init } from './work.ts'

const help: SlashCommand = {
  name: 'help',
  help: 'lists the commands',
  run: (_, { ownCommands }) => {
    const rows = [...commands, ...ownCommands()].map((command) => [usageOf(command), command.help] as const)
    // One long usage must not push every description to the right.
    const width = Math.min(maxUsage, Math.max(...rows.map(([usage]) => usage.length)))
    return text(
      ...rows.map(([usage, words]) => `${usage.padEnd(width)}  ${words}`),
      `${'!COMMAND'.padEnd(width)}  runs a shell command; its output joins the conversation`,
      `${'?'.padEnd(width)}  in an empty prompt, lists the keys`,
    )
  },
}

const maxUsage = 24

const quit: SlashCommand = { name: 'quit', aliases: ['exit'], help: 'leaves', run: () => ({ type: 'quit' }) }

/** In the order of help. */
export const commands: readonly SlashCommand[] = [
  ...[compact, context, explain, cost, undo, rewind, snip, pin, unpin, recall, memory],
  ...[tasks, todos, init, addDir, exportConversation, model, permissions, resume, fork, rename, clear],
  ...[status, config, mcp, skills, hooks, help, quit],
]

export function usageOf({ name, arguments: words }: Pick<SlashCommand, 'name' | 'arguments'>): string {
  return words === undefined ? `/${name}` : `/${name} ${words}`
}

/** Undefined if the line is not a command. */
export function commandNamed(line: string): SlashCommand | undefined {
  const [, name] = /^\/(\S+)/.exec(line.trim()) ?? []
  return commands.find((command) => command.name === name || command.aliases?.includes(name ?? ''))
}

export async function runCommand(line: string, context: CommandContext): Promise<CommandResult> {
  const command = commandNamed(line)
  if (!command) {
    const [name = ''] = line.trim().split(/\s/, 1)
    const own = context.ownCommands().find((each) => `/${each.name}` === name)
    if (own) return runOwn(own, line, context)
    const close = commands.filter((each) => each.name.startsWith(name.slice(1, 3))).map((each) => `/${each.name}`)
    const guess = close.length > 0 && name.length > 1 ? ` Did you mean ${close.join(' or ')}?` : ''
    return error(`There is no command ${name}.${guess} /help lists all.`)
  }
  const words = line.trim().replace(/^\S+\s*/, '')
  if (words !== '' && command.arguments === undefined) return error(`/${command.name} takes no arguments.`)
  try {
    return await command.run(words, context)
  } catch (thrown) {
    return error(`/${command.name} failed: ${reasonOf(thrown)}`)
  }
}
