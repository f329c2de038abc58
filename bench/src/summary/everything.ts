// `npm run bench` without a name: every benchmark, each in a process of its own, and then the summary. Left out: `soak`, which
// alone takes minutes; `viewer` and `sandbox`, which not every machine can run; fitting the estimator, which changes sources; the README's figures.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fetchAgentSdk } from '../adapters/agent-sdk.ts'
import { fetchPeers } from '../peers/apart.ts'
import { root } from '../root.ts'
import { summary } from './summary.ts'

type Words = readonly string[]

/** They measure time, or use every processor: one after the other. */
export const alone: readonly Words[] = [
  ['gateway'],
  ['tokens'],
  ['transcript'],
  ['engine'],
  ['speed'],
  ['recall'],
  ['micro'],
  ['memory'],
  ['compact'],
  ['simulator'],
  ['loop'],
  ['store'],
  ['hooks'],
  ['terminal'],
  ['economy'],
  ['clock'],
  ['cost'],
]

/** They count prices, facts and functions on one thread: as many at a time as there are processors, the longest first. */
export const together: readonly Words[] = [
  ['adapters'],
  ['built-ins'],
  ['fidelity'],
  ['handover'],
  ['walks'],
  ['windows'],
  ['locomo'],
  ['rounds'],
]

/** Too long for every run, or in need of a browser or bubblewrap. */
export const leftOut: readonly string[] = ['soak', 'viewer', 'sandbox']

export async function run(): Promise<void> {
  // Hundreds of megabytes from the network, once for each clone: not part of the time that is reported.
  fetchPeers()
  fetchAgentSdk()
  const began = performance.now()
  const took: Record<string, number> = {}
  for (const words of alone) await runOne(words, took)
  const waiting = [...together]
  const work = async () => {
    for (let words = waiting.shift(); words; words = waiting.shift()) await runOne(words, took)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  await summary({ took, seconds: (performance.now() - began) / 1000, leftOut }).run()
}

async function runOne([name = '', ...options]: Words, took: Record<string, number>): Promise<void> {
  console.error(`── ${name}`)
  const began = performance.now()
  const child = spawn(process.execPath, [join(root, 'bench/src/main.ts'), name, ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const status = await new Promise((resolve) => child.once('close', resolve))
  const seconds = (performance.now() - began) / 1000
  took[name] = seconds
  console.error(status === 0 ? `   ${name}: ${seconds.toFixed(0)} s` : `   ${name} failed with ${status}`)
  if (status !== 0) process.exitCode = 1
}
