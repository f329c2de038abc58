// `everlong inspect`: one session as an overview, its epochs or a tree; several sessions as statistics.
import { statSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { anyAgent } from '../agent-names.ts'
import { type Cli, type JsonOption, reportCommand, windowOptions } from '../command.ts'
import { wholeNumber } from '../option-values.ts'
import type { WindowChoice } from '../session.ts'

type InspectOptions = WindowChoice &
  JsonOption & {
    readonly epochs?: boolean
    readonly tree?: boolean
    readonly stats?: boolean
    readonly limit: number
    readonly ancestry?: string
  }

export function inspectCommand(cli: Cli): Command {
  const command = reportCommand('inspect', 'show an overview of one session or many')
    .argument('<path...>', `a transcript of ${anyAgent}; or several, or folders that contain some`)
    .addOption(new Option('--epochs', 'list the parts between compactions').conflicts(['tree', 'stats']))
    .addOption(new Option('--tree', 'show the conversation as a tree, one line per message').conflicts('stats'))
    .option('--stats', 'show statistics (default for a folder or several files)')
    .option('--limit <lines>', '--tree: show only the last lines; 0 shows all', wholeNumber, 200)
    .option('--ancestry <uuid>', '--tree: show only what led to this entry, across all compactions')
  return windowOptions(command).action(async (paths: readonly string[], options: InspectOptions) => {
    const [path = '', ...more] = paths
    if (options.stats || (!options.epochs && !options.tree && (more.length > 0 || isFolder(path)))) {
      await showStats(paths, options, cli)
    } else if (more.length > 0) command.error('error: the options --epochs and --tree take one file')
    else if (options.epochs) await showEpochs(path, options, cli)
    else if (options.tree) await showTree(path, options, cli)
    else await showOverview(path, options, cli)
  })
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

async function showOverview(path: string, options: InspectOptions, { io, show }: Cli): Promise<void> {
  const { gather, render } = await import('./inspect/overview.ts')
  show(await gather(path, { ...options, io }), { ...options, render })
}

async function showEpochs(path: string, options: InspectOptions, { io, show }: Cli): Promise<void> {
  const { gather, render } = await import('./inspect/epochs.ts')
  show(gather(path, io), { ...options, render })
}

async function showTree(path: string, options: InspectOptions, { io, show }: Cli): Promise<void> {
  const [{ gather }, { render }] = await Promise.all([import('./inspect/tree.ts'), import('./inspect/tree-screen.ts')])
  show(gather(path, { ...options, io }), { ...options, render })
}

async function showStats(paths: readonly string[], options: InspectOptions, { io, show }: Cli): Promise<void> {
  const [{ gather }, { render }] = await Promise.all([
    import('./inspect/stats.ts'),
    import('./inspect/stats-screen.ts'),
  ])
  show(await gather(paths, io), { ...options, render })
}
