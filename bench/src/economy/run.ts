// `npm run bench -- economy`: the three settings of `economy` and a peer that prunes at several sizes: what each costs, gets
// done and forgets.
import { defineBenchmark, type Page, type Table, type Target, table, targetTable } from '../benchmark.ts'
import { kinds } from '../cost/kinds.ts'
import { pruned } from '../cost/peers.ts'
import { type Ran, type Run, runAll } from '../cost/pool.ts'
import { defaults, thrifty, weighed } from '../cost/rules.ts'
import type { Setup } from '../cost/setup.ts'
import type { Strategy } from '../cost/strategy.ts'
import { madeUpTurns } from '../rounds/session.ts'
import { type Kept, keptIn } from './play.ts'
import { type Answered, answeredAt } from './probes.ts'

/** Settings were chosen on seeds 1 and 2. */
const seeds = [11, 12, 13]
const base = { model: 'claude-opus-5', window: 200_000, lifetime: '5m', pauses: 'real', tasks: 33 } as const
const turns = 300
const facts = 30
/** The minimum for a compaction before the threshold. */
const minRoom = 13_000

export type EconomyReport = {
  /** Sessions of the cost benchmark. */
  readonly ran: readonly Ran[]
  readonly turns: number
  readonly kept: readonly Kept[]
  readonly probes: readonly Answered[]
}

export const benchmark = defineBenchmark({ name: 'economy', run, page, targets: targetsOf })

async function run(): Promise<EconomyReport> {
  const session = madeUpTurns(turns, facts)
  const kept: Kept[] = []
  for (const economy of ['default', 'thrifty', 'claude-code'] as const) kept.push(await keptIn(economy, session))
  return {
    ran: await runAll(sessions([defaults, thrifty, weighed, ...pruned]), told),
    turns,
    kept,
    probes: await answeredAt([undefined, minRoom]),
  }
}

function sessions(strategies: readonly Strategy[]): readonly Run[] {
  const setups = seeds.flatMap((seed) => kinds.map((kind): Setup => ({ ...base, kind, seed })))
  return setups.flatMap((setup) => strategies.map(({ who, name }): Run => ({ setup, who, name })))
}

function told({ setup, who, name, outcome }: Ran): void {
  console.error(`${setup.kind} ${setup.seed} ${who}: ${name} $${outcome.price.toFixed(2)}`)
}

export const nameOf = ({ who, name }: Pick<Run, 'who' | 'name'>) => `${who}: ${name}`
const sumOf = (rows: readonly Ran[], value: (outcome: Ran['outcome']) => number) =>
  rows.reduce((sum, { outcome }) => sum + value(outcome), 0)
const priceOf = (rows: readonly Ran[]) => sumOf(rows, ({ price }) => price)

/** The strategy that the goal refers to. */
export const measure = 'AI SDK: pruneMessages at 50,000'

/** How much less than the peer, for each kind and in sum, over all seeds. */
export function lessThanPeer(ran: readonly Ran[], name: string): readonly (readonly [kind: string, less: number])[] {
  const of = (who: string, kind?: string) =>
    priceOf(ran.filter((row) => nameOf(row) === who && (kind === undefined || row.setup.kind === kind)))
  const less = (kind?: string) => 1 - of(name, kind) / of(measure, kind)
  return [...kinds.map((kind) => [kind, less(kind)] as const), ['in sum', less()]]
}

const minLess = { each: 0.15, sum: 0.2 }

function targetsOf({ ran, kept }: EconomyReport): readonly Target[] {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  const prices = lessThanPeer(ran, nameOf(defaults)).map(([kind, less]): Target => {
    const wanted = kind === 'in sum' ? minLess.sum : minLess.each
    return {
      what: `the defaults: the price next to ${measure}, ${kind}`,
      wanted: `at least ${percent(wanted)} less`,
      measured: `${percent(less)} less`,
      met: less >= wanted,
    }
  })
  const own = ran.filter((row) => nameOf(row) === nameOf(defaults))
  const [done, tasks] = [sumOf(own, (outcome) => outcome.done), own.reduce((sum, { setup }) => sum + setup.tasks, 0)]
  const factsWith = (economy: string) => kept.find((one) => one.economy === economy)?.inContext ?? Number.NaN
  const [now, before] = [factsWith('default'), factsWith('claude-code')]
  return [
    ...prices,
    { what: 'the defaults: tasks done', wanted: 'all', measured: `${done} of ${tasks}`, met: done === tasks },
    {
      what: `the defaults: facts in the context after ${turns} turns`,
      wanted: `at most one fewer than claude-code: ${before} of ${facts}`,
      measured: `${now} of ${facts}`,
      met: now >= before - 1,
    },
  ]
}

function priceTable(ran: readonly Ran[]): Table {
  const names = [...new Set(ran.map(nameOf))]
  const rows = names.map((name) => {
    const own = ran.filter((row) => nameOf(row) === name)
    const count = own.length / kinds.length
    const prices = kinds.map((kind) => priceOf(own.filter(({ setup }) => setup.kind === kind)) / count)
    const less = lessThanPeer(ran, name).map(([, share]) => (name === measure ? '–' : `${(100 * share).toFixed(1)} %`))
    const tasks = own.reduce((sum, { setup }) => sum + setup.tasks, 0)
    return [
      name,
      ...prices.map((price, at) => `$${price.toFixed(2)} (${less[at]})`),
      less.at(-1) ?? '',
      `${sumOf(own, ({ done }) => done)} of ${tasks}`,
      `${sumOf(own, ({ answered }) => answered)} of ${sumOf(own, ({ questions }) => questions)}`,
      (sumOf(own, ({ compactions }) => compactions) / own.length).toFixed(1),
      Math.round(sumOf(own, ({ mean }) => mean) / own.length / 1_000),
    ]
  })
  return table(
    ['mean price (less)', ...kinds, 'in sum', 'tasks done', 'questions answered', 'compactions', 'mean k'],
    rows,
  )
}

function page(report: EconomyReport): Page {
  const { ran, turns: count, kept, probes } = report
  return {
    title: "Economy: the default, `'thrifty'` and `'claude-code'`",
    parts: [
      `Written by \`npm run bench -- economy\`. The settings are described in [cost.md](../../docs/cost.md#the-setting-economy).`,
      targetTable(targetsOf(report)),
      '## What it costs, and what gets done',
      `Sessions of 33 tasks as in [cost.md](cost.md), ${seeds.length} seeds that no setting was chosen on. *Less* is the difference to
\`pruneMessages\` of the AI SDK at 50,000 tokens. A task counts as done when the rule that was given once and the reason for its file
were kept, or when a question about an earlier task was answered: from the request, by reading a file again or, for Everlong, with recall.
Lower triggers of \`pruneMessages\` cost less and answer fewer questions: it drops every call with its result, in the middle of a turn
too. *claude-code* takes no notes here.`,
      priceTable(ran),
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
      : `${limit.toLocaleString('en')} tokens, the minimum that a compaction before the threshold leaves it`
  return [
    `The questions of [handover.md](handover.md) about ${all.cases} recorded compactions, with a strong model's summary.`,
    table(
      ['room for the new context', 'questions answered'],
      probes.map(({ limit, score }) => [room(limit), `${(100 * score).toFixed(1)} %`]),
    ),
  ]
}
