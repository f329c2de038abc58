// The slash commands as the completion menu shows them.
import { commands } from '../../commands/run.ts'
import type { CommandInfo } from './protocol.ts'

export function commandInfos(): readonly CommandInfo[] {
  return commands.map(({ name, arguments: usage, help }) => ({
    name,
    description: help,
    ...(usage === undefined ? {} : { usage }),
  }))
}
