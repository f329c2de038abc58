// `npm run bench -- economy`: `economy: 'thrifty'` beside the default: what each costs, gets done and forgets, and how
// low a peer gets that prunes far more.
import { kinds } from '../cost/kinds.ts'
import { prunedLow } from '../cost/peers.ts'
import { type Ran, type Run, runAll } from '../cost/pool.ts'
import { thrifty, weighed } from '../cost/rules.ts'
import type { Setup } from '../cost/setup.ts'
import type { Strategy } from '../cost/strategy.ts'
import { writeResults } from '../results.ts'
import { madeUpTurns } from '../rounds/session.ts'
import { keptIn } from './play.ts'
import { answeredAt } from './probes.ts'
import { type EconomyReport, economyMarkdown } from './report.ts'

/** The first of the cost benchmark. */
const seed = 11
const usual = { model: 'claude-opus-5', window: 200_000, lifetime: '5m', pauses: 'real', tasks: 33 } as const
const turns = 300
const facts = 30
/** What a compaction before the threshold has at least. */
const leastRoom = 8_000

export async function run(): Promise<void> {
  const runs = sessions([thrifty, weighed, ...prunedLow])
  const session = madeUpTurns(turns, facts)
  const report: EconomyReport = {
    ran: await runAll(runs, told),
    turns,
    kept: [await keptIn('thrifty', session), await keptIn('default', session)],
    probes: await answeredAt([undefined, leastRoom]),
  }
  writeResults('economy', { markdown: economyMarkdown(report), json: report })
}

function sessions(strategies: readonly Strategy[]): readonly Run[] {
  const setups = kinds.map((kind): Setup => ({ ...usual, kind, seed }))
  return setups.flatMap((setup) => strategies.map(({ who, name }): Run => ({ setup, who, name })))
}

function told({ setup, who, name, outcome }: Ran): void {
  console.error(`${setup.kind} ${setup.seed} ${who}: ${name} $${outcome.price.toFixed(2)}`)
}
