// `npm run bench -- cost`: what sessions cost with the prompt cache counted, for us, for fixed rules and for the peers.
// `--quick` leaves out the long sessions and all seeds but the first.
import { writeResults } from '../results.ts'
import { kinds } from './kinds.ts'
import { type Ran, type Run, runAll } from './pool.ts'
import { type CostReport, costMarkdown } from './report-markdown.ts'
import type { Setup } from './setup.ts'
import { compared, promised } from './strategies.ts'

const usual = {
  model: 'claude-opus-5',
  window: 200_000,
  lifetime: '5m',
  pauses: 'real',
  answers: 300,
  seed: 1,
} as const
const isQuick = process.argv.includes('--quick')
const seeds = isQuick ? [1] : [1, 2, 3, 4, 5]
const lengths = isQuick ? [300] : [300, 1_000]

export async function run(): Promise<void> {
  const everybody = lengths.flatMap((answers) =>
    kinds.flatMap((kind) => compared.map(({ who, name }): Run => ({ setup: { ...usual, kind, answers }, who, name }))),
  )
  const bound = compared.map(({ who, name }): Run => {
    return { setup: { ...usual, model: 'claude-opus-5-5', kind: 'reading' }, who, name }
  })
  const held = promiseSetups().flatMap((setup) => promised.map(({ who, name }): Run => ({ setup, who, name })))
  const ran = await runAll([...everybody, ...bound, ...held], told)
  const report: CostReport = {
    node: process.versions.node,
    compared: ran.slice(0, everybody.length),
    bound: ran.slice(everybody.length, everybody.length + bound.length),
    promise: ran.slice(everybody.length + bound.length),
  }
  writeResults('cost', { markdown: costMarkdown(report), json: report })
}

/** Where the promise is looked at: every kind, warm all the time or with pauses, both lifetimes, both sorts of models. */
function promiseSetups(): readonly Setup[] {
  const changes: readonly Partial<Setup>[] = [
    { pauses: 'none' },
    { pauses: 'none', model: 'claude-opus-5-5' },
    {},
    { lifetime: '1h' },
    { model: 'claude-opus-5-5' },
  ]
  return changes.flatMap((change) =>
    kinds.flatMap((kind) => seeds.map((seed) => ({ ...usual, ...change, kind, seed }))),
  )
}

function told({ setup, who, name, outcome }: Ran): void {
  console.error(`${setup.kind} ${setup.answers} ${setup.model} ${who}: ${name} $${outcome.price.toFixed(2)}`)
}
