// The slash commands as the completion menu shows them.
import type { Agent } from '../../app.ts'
import { commandNamed, commands } from '../../commands/run.ts'
import type { CommandInfo } from './protocol.ts'

/** Includes those of the person and the project, and skills. The agent's own names take precedence. */
export function commandInfos(agent?: Pick<Agent, 'ownCommands'>): readonly CommandInfo[] {
  const own = (agent?.ownCommands() ?? []).filter(({ name }) => commandNamed(`/${name}`) === undefined)
  return [...commands, ...own].map(({ name, arguments: usage, help }) => ({
    name,
    description: help,
    ...(usage === undefined ? {} : { usage }),
  }))
}
