// How `everlong lost` is called. What it does is in commands/lost.ts.
import type { InstallingTools } from './installing.ts'
import { wholeNumber } from './option-values.ts'

type LostChoices = { readonly json?: boolean; readonly all?: boolean; readonly limit: number }

export function addLost({ command, show, surroundings }: InstallingTools): void {
  command('lost', 'show what compactions lost: your instructions, decisions, solved failures')
    .argument('[path...]', 'transcripts, or folders that contain some (default: the agents on this machine)')
    .option('--all', 'show everything that was lost, not only one screen')
    .option('--limit <sessions>', 'read only the newest sessions; 0 reads all', wholeNumber, 100)
    .action(async (paths: readonly string[], options: LostChoices) => {
      const [{ gather }, { render }] = await Promise.all([
        import('./commands/lost.ts'),
        import('./commands/lost-screen.ts'),
      ])
      show(await gather(paths, { ...options, surroundings }), {
        ...options,
        render: (report, screen) => render(report, screen, options),
      })
    })
}
