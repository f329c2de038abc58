// `everlong install` and `everlong uninstall`
import type { Command } from 'commander'
import { type Cli, type JsonOption, reportCommand } from '../command.ts'
import { targets } from './install/targets.ts'

type InstallOptions = JsonOption & { readonly dryRun?: boolean }

const names = targets.map((target) => target.name).join(', ')

export function installCommand({ io, show }: Cli): Command {
  return reportCommand('install', 'install into another agent, or show where it is')
    .argument('[agent]', `${names} (default: show where it is installed)`)
    .option('--dry-run', 'show what would be written, and write nothing')
    .action(async (agent: string | undefined, options: InstallOptions) => {
      if (agent === undefined) {
        const { gather, render } = await import('./install/status.ts')
        show(gather(io), { ...options, render })
      } else {
        const { install, render } = await import('./install/report.ts')
        show(install(agent, { ...options, io }), { ...options, render })
      }
    })
}

export function uninstallCommand({ io, show }: Cli): Command {
  return reportCommand('uninstall', 'remove it again, and leave everything as it was')
    .argument('<agent>', names)
    .option('--dry-run', 'show what would be removed, and remove nothing')
    .action(async (agent: string, options: InstallOptions) => {
      const { uninstall, render } = await import('./install/report.ts')
      show(uninstall(agent, { ...options, io }), { ...options, render })
    })
}
