// What the hooks of the plug-ins cost with a session of 50 MB, next to a Node that does nothing. They take turns.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, writeResults } from '../results.ts'
import { root } from '../root.ts'
import { claudeCodeHooks } from './claude-code.ts'
import { codexHooks } from './codex.ts'
import { cpuOf, type Hook } from './measure.ts'

const megabytes = 50
const rounds = 15

export function run(): void {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-hooks-'))
  try {
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
    report(empty, rows)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Row = Omit<Hook, 'cost'> & { readonly milliseconds: number }

function report(empty: number, rows: readonly Row[]): void {
  const lines = rows.map(({ agent, name, note, milliseconds }) => {
    return `| ${agent} | \`${name}\` | ${note} | ${milliseconds.toFixed(0)} | ${(milliseconds / empty).toFixed(1)} |`
  })
  writeResults('hooks', {
    json: { megabytes, rounds, cores: availableParallelism(), node: process.version, empty, rows },
    markdown: `# Hooks of the plug-ins

Processor time of one hook, in milliseconds, with a session of ${megabytes} MB; the median of ${rounds} runs. A Node that does nothing
takes ${empty.toFixed(0)} ms. \`npm run bench -- hooks\`, Node ${process.version}.

| agent | hook | what it does | ms | times an empty Node |
| --- | --- | --- | ---: | ---: |
${lines.join('\n')}
`,
  })
}
