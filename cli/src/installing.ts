// The commands that install Everlong into other agents: how they are called. What they do is in commands/install.ts.
import type { Command } from 'commander'
import { targets } from './install/targets.ts'
import type { Outcome } from './outcome.ts'
import type { Screen } from './render/screen.ts'
import type { Surroundings } from './surroundings.ts'

export type InstallingTools = {
  /** A command that knows --json. */
  readonly command: (name: string, description: string) => Command
  readonly show: <R>(
    outcome: Outcome<R>,
    how: { readonly json?: boolean; readonly render: (report: R, screen: Screen) => readonly string[] },
  ) => void
  readonly surroundings: Surroundings
}

type Shown = { readonly json?: boolean; readonly dryRun?: boolean }

export function addInstalling({ command, show, surroundings }: InstallingTools): void {
  const described = {
    install: 'install Everlong into another agent',
    uninstall: 'remove it again, and leave everything as it was',
  } as const
  for (const name of ['install', 'uninstall'] as const) {
    command(name, described[name])
      .argument('<agent>', targets.map((target) => target.name).join(', '))
      .option('--dry-run', 'show what would be written, and write nothing')
      .action(async (agent: string, options: Shown) => {
        const commands = await import('./commands/install.ts')
        show(commands[name](agent, { ...options, surroundings }), { ...options, render: commands.render })
      })
  }
  command('status', 'show which agents Everlong is installed in').action(async (options: Shown) => {
    const { gather, render } = await import('./commands/status.ts')
    show(gather(surroundings), { ...options, render })
  })
}
