// What the hooks of the plug-ins cost with a session of 50 MB, next to a Node that does nothing. They take turns.
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { median } from '../median.ts'
import { root } from '../root.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { claudeCodeHooks } from './claude-code.ts'
import { codexHooks } from './codex.ts'
import { cpuOf, type Hook } from './measure.ts'

const megabytes = 50
const rounds = 15

type Row = Omit<Hook, 'cost'> & { readonly milliseconds: number }
type Figures = {
  readonly megabytes: number
  readonly rounds: number
  readonly cores: number
  readonly node: string
  readonly empty: number
  readonly rows: readonly Row[]
}

export const benchmark = defineBenchmark({ name: 'hooks', run: () => inTemporaryFolder(run), page })

function run(folder: string): Figures {
  const build = [join(root, 'scripts/build-plugins.ts'), 'claude-code', 'codex']
  const built = spawnSync(process.execPath, build, { cwd: root })
  if (built.status !== 0) throw new Error('The plug-ins could not be built.')
  const nothing = { agent: '', name: '', note: '', cost: () => cpuOf(['--eval', ''], '') }
  const hooks: readonly Hook[] = [nothing, ...claudeCodeHooks(folder, megabytes), ...codexHooks(folder)]
  const costs = hooks.map((): number[] => [])
  for (let round = 0; round < rounds; round++) hooks.forEach((hook, at) => void costs[at]?.push(hook.cost()))
  const [empty = 0, ...milliseconds] = costs.map(median)
  const rows = hooks.slice(1).map(({ agent, name, note }, at) => {
    return { agent, name, note, milliseconds: milliseconds[at] ?? 0 }
  })
  return { megabytes, rounds, cores: availableParallelism(), node: process.version, empty, rows }
}

function page({ megabytes, rounds, node, empty, rows }: Figures): Page {
  return {
    title: 'Hooks of the plug-ins',
    parts: [
      `Processor time of one hook, in milliseconds, with a session of ${megabytes} MB; the median of ${rounds} runs. A Node that does nothing
takes ${empty.toFixed(0)} ms. \`npm run bench -- hooks\`, Node ${node}.`,
      table(
        ['agent', 'hook', 'what it does', 'ms', 'times an empty Node'],
        rows.map(({ agent, name, note, milliseconds }) => {
          return [agent, `\`${name}\``, note, milliseconds, milliseconds / empty]
        }),
      ),
    ],
  }
}
