// `npm run bench -- cost`: what sessions cost with the prompt cache counted, for us, for fixed rules and for the peers, on one seed.
import { defineBenchmark } from '../benchmark.ts'
import { versionsOf } from '../peers/versions.ts'
import { kinds } from './kinds.ts'
import { type CostReport, costPage } from './page.ts'
import { type Ran, type Run, runAll } from './pool.ts'
import type { Setup } from './setup.ts'
import { everybody, few, promised } from './strategies.ts'
import type { Strategy } from './strategy.ts'

/** Settings and rules were chosen on seeds 1 and 2. */
const seed = 11

/** About 300 answers where nothing is forgotten. */
const base = { model: 'claude-opus-5', window: 200_000, lifetime: '5m', pauses: 'real', tasks: 33 } as const
const bound = { model: 'claude-opus-5-5' } as const
const warm = { pauses: 'none' } as const

export const benchmark = defineBenchmark({ name: 'cost', run, page: costPage })

const plan: { readonly [Part in Exclude<keyof CostReport, 'node' | 'versions'>]: readonly Run[] } = {
  compared: everywhere(everybody),
  bound: runsOf([{ ...base, ...bound, kind: 'reading', seed }], few),
  promise: [...everywhere(promised), ...everywhere(promised, warm), ...everywhere(promised, { ...warm, ...bound })],
}

async function run(): Promise<CostReport> {
  // A session that several parts need is run once.
  const different = new Map(Object.values(plan).flatMap((runs) => runs.map((run) => [keyOf(run), run] as const)))
  const known = new Map((await runAll([...different.values()], told)).map((ran) => [keyOf(ran), ran]))
  const rowsOf = (runs: readonly Run[]) => runs.map((run) => known.get(keyOf(run))).filter((row) => row !== undefined)
  return {
    node: process.versions.node,
    versions: versionsOf(['langchain', '@langchain/core', 'ai', '@mariozechner/pi-coding-agent', '@mastra/core']),
    compared: rowsOf(plan.compared),
    bound: rowsOf(plan.bound),
    promise: rowsOf(plan.promise),
  }
}

/** Runs it in each kind of session. */
function everywhere(strategies: readonly Strategy[], change: Partial<Setup> = {}): readonly Run[] {
  return runsOf(
    kinds.map((kind): Setup => ({ ...base, ...change, kind, seed })),
    strategies,
  )
}

function runsOf(setups: readonly Setup[], strategies: readonly Strategy[]): readonly Run[] {
  return setups.flatMap((setup) => strategies.map(({ who, name }): Run => ({ setup, who, name })))
}

function keyOf({ setup, who, name }: Run): string {
  return JSON.stringify({ setup, who, name })
}

function told({ setup, who, name, outcome }: Ran): void {
  const { kind, tasks, model, seed } = setup
  console.error(`${kind} ${tasks} ${model} ${seed} ${who}: ${name} $${outcome.price.toFixed(2)}`)
}
