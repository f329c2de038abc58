// `npm run bench -- economy`: `economy: 'thrifty'` compared with the default: what each costs, gets done and forgets, and how
// low a peer gets that prunes far more.
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { kinds } from '../cost/kinds.ts'
import { prunedLow } from '../cost/peers.ts'
import { type Ran, type Run, runAll } from '../cost/pool.ts'
import { thrifty, weighed } from '../cost/rules.ts'
import type { Setup } from '../cost/setup.ts'
import type { Strategy } from '../cost/strategy.ts'
import { madeUpTurns } from '../rounds/session.ts'
import { type Kept, keptIn } from './play.ts'
import { type Answered, answeredAt } from './probes.ts'

/** The first of the cost benchmark. */
const seed = 11
const base = { model: 'claude-opus-5', window: 200_000, lifetime: '5m', pauses: 'real', tasks: 33 } as const
const turns = 300
const facts = 30
/** The minimum for a compaction before the threshold. */
const minRoom = 8_000

export type EconomyReport = {
  /** Sessions of the cost benchmark. */
  readonly ran: readonly Ran[]
  readonly turns: number
  readonly kept: readonly Kept[]
  readonly probes: readonly Answered[]
}

export const benchmark = defineBenchmark({ name: 'economy', run, page })

async function run(): Promise<EconomyReport> {
  const runs = sessions([thrifty, weighed, ...prunedLow])
  const session = madeUpTurns(turns, facts)
  return {
    ran: await runAll(runs, told),
    turns,
    kept: [await keptIn('thrifty', session), await keptIn('default', session)],
    probes: await answeredAt([undefined, minRoom]),
  }
}

function sessions(strategies: readonly Strategy[]): readonly Run[] {
  const setups = kinds.map((kind): Setup => ({ ...base, kind, seed }))
  return setups.flatMap((setup) => strategies.map(({ who, name }): Run => ({ setup, who, name })))
}

function told({ setup, who, name, outcome }: Ran): void {
  console.error(`${setup.kind} ${setup.seed} ${who}: ${name} $${outcome.price.toFixed(2)}`)
}

function page({ ran, turns: count, kept, probes }: EconomyReport): Page {
  return {
    title: "Economy: `'thrifty'` compared with the default",
    parts: [
      `Written by \`npm run bench -- economy\`. A thrifty session clears and compacts as soon as that pays; the default lets the context
fill up to the threshold ([cost.md](../../docs/cost.md#the-setting-economy)). Both without notes.`,
      '## What it costs, and what gets done',
      `Sessions of 33 tasks as in [cost.md](cost.md), one seed. A task counts as done when the rule that was given once and the
reason for its file were kept. For \`pruneMessages\` of the AI SDK the triggers are lower than in cost.md. It then drops every
call with its result, in the middle of a turn too, and keeps no record of what was done. The agent of this benchmark works on
one file at a time and is never asked what it did, so only re-reads count against that.`,
      table(
        ['kind', 'strategy', 'price', 'tasks done', 'compactions', 're-reads', 'mean k'],
        ran.map(({ setup, who, name, outcome: { price, done, compactions, rereads, mean } }) => [
          setup.kind,
          `${who}: ${name}`,
          `$${price.toFixed(2)}`,
          `${done} of ${setup.tasks}`,
          compactions,
          rereads,
          Math.round(mean / 1_000),
        ]),
      ),
      '## What it forgets',
      `${count} turns with ${kept[0]?.planted ?? 0} facts of ten kinds, each stated once ([rounds.md](rounds.md)), through a session of the engine in a window of
200,000 tokens; summaries by the simulator's summarizer, in at most 4,096 tokens. A fact is kept when its words are in the
request at the end. Originals are in the transcript either way, where recall finds them.`,
      table(
        ['economy', 'compactions', 'rules kept', 'facts in the context', 'tokens of a request, mean'],
        kept.map(({ economy, compactions, constraints, inContext, planted, mean }) => [
          `\`'${economy}'\``,
          compactions,
          constraints.join(' of '),
          `${inContext} of ${planted}`,
          mean.toLocaleString('en'),
        ]),
      ),
      '## What one compaction hands over',
      ...probeParts(probes),
    ],
  }
}

function probeParts(probes: readonly Answered[]): Page['parts'] {
  const [all] = probes
  if (!all) return ['Not measured: there were no recorded sessions.']
  const room = (limit: number | undefined) =>
    limit === undefined
      ? 'no limit'
      : `${limit.toLocaleString('en')} tokens, the minimum that a thrifty session leaves it`
  return [
    `The questions of [handover.md](handover.md) about ${all.cases} recorded compactions, with a strong model's summary.`,
    table(
      ['room for the new context', 'questions answered'],
      probes.map(({ limit, score }) => [room(limit), `${(100 * score).toFixed(1)} %`]),
    ),
  ]
}
