// `npm run bench` without a name: every benchmark one after the other, each in a process of its own, and then the summary.
// Left out: `soak`, which alone takes minutes; fitting the estimator, which changes sources; the README's figures.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { root } from '../root.ts'
import { summary } from './summary.ts'

/** In this order; `--quick` where a benchmark has it, or all of them would not end within twenty minutes. */
const benchmarks: readonly (readonly string[])[] = [
  ['tokens'],
  ['transcript'],
  ['engine'],
  ['speed'],
  ['recall'],
  ['micro'],
  ['memory'],
  ['compact'],
  ['simulator'],
  ['walks'],
  ['rounds'],
  ['handover'],
  ['built-ins'],
  ['fidelity'],
  ['cost', '--quick'],
]

export async function run(): Promise<void> {
  const took: Record<string, number> = {}
  for (const [name = '', ...options] of benchmarks) {
    console.error(`── ${name}`)
    const began = performance.now()
    const { status } = spawnSync(process.execPath, [join(root, 'bench/src/main.ts'), name, ...options], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    took[name] = (performance.now() - began) / 1000
    console.error(status === 0 ? `   ${took[name].toFixed(0)} s` : `   failed with ${status}`)
    if (status !== 0) process.exitCode = 1
  }
  await summary(took).run()
}
