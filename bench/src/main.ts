// `npm run bench -- NAME`: runs a benchmark or another command. Without a name all benchmarks run.
import { readPage, writePage } from './benchmark.ts'
import { benchmarks } from './benchmarks.ts'

type Command = (args: readonly string[]) => unknown

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  ...Object.fromEntries(
    Object.entries(benchmarks).map(([name, load]) => [name, async () => (await load()).benchmark.run]),
  ),
  summary: async () => (await import('./summary/summary.ts')).summary({ took: {} }).run,
  everything: async () => (await import('./summary/everything.ts')).run,
  pages: async () => writePages,
  docs: async () => (await import('./docs.ts')).run,
  'fit-estimator': async () => (await import('./tokens/fit.ts')).run,
}

/** Writes the pages again from the stored figures. With `--dry` it only says which differ, and exits with 1. */
async function writePages(args: readonly string[]): Promise<void> {
  for (const [name, load] of Object.entries(benchmarks)) {
    const text = (await load()).benchmark.markdown()
    // It has not been measured yet.
    if (text === undefined || text === readPage(name)) continue
    if (!args.includes('--dry')) writePage(name, text)
    else {
      console.error(`bench/results/${name}.md does not show its stored figures. Run npm run bench -- pages.`)
      process.exitCode = 1
    }
  }
}

const [name = 'everything', ...args] = process.argv.slice(2)
const load = Object.hasOwn(commands, name) ? commands[name] : undefined
if (load) {
  const run = await load()
  await run(args)
} else {
  console.error(`Usage: npm run bench -- NAME, where NAME is one of: ${Object.keys(commands).join(', ')}`)
  process.exitCode = 2
}
