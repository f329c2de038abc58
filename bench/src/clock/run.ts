// `npm run bench -- clock`: a session of two weeks with the pauses of somebody who works on weekdays, with and without the cache
// clock. `--quick` runs one seed and one kind.
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { tasksInTwoWeeks } from '../cost/calendar.ts'
import { type Ran, type Run, runAll } from '../cost/pool.ts'
import { clockRules } from '../cost/rules.ts'
import type { Setup } from '../cost/setup.ts'

const kinds = ['reading', 'editing'] as const
const seeds = [11, 12] as const
const base = {
  model: 'claude-opus-5',
  window: 200_000,
  lifetime: '5m',
  pauses: 'calendar',
  tasks: tasksInTwoWeeks,
} as const

export type ClockReport = { readonly ran: readonly Ran[] }

export const benchmark = defineBenchmark({ name: 'clock', run, page })

async function run(args: readonly string[]): Promise<ClockReport> {
  const isQuick = args.includes('--quick')
  const setups = (isQuick ? kinds.slice(0, 1) : kinds).flatMap((kind) =>
    (isQuick ? seeds.slice(0, 1) : seeds).map((seed): Setup => ({ ...base, kind, seed })),
  )
  const runs = setups.flatMap((setup) => clockRules.map(({ who, name }): Run => ({ setup, who, name })))
  const told = ({ setup, name, outcome }: Ran) =>
    console.error(`${setup.kind} ${setup.seed} ${name} $${outcome.price.toFixed(2)}`)
  return { ran: await runAll(runs, told) }
}

function page({ ran }: ClockReport): Page {
  const without = new Map(
    ran.filter(({ name }) => name === clockRules[0].name).map((one) => [keyOf(one), one.outcome.price]),
  )
  const change = (one: Ran) => {
    const before = without.get(keyOf(one)) ?? 0
    return before === 0 ? '–' : `${(100 * (one.outcome.price / before - 1)).toFixed(1)} %`
  }
  const sums = clockRules.map(({ name }) => {
    const own = ran.filter((one) => one.name === name)
    const price = own.reduce((sum, { outcome }) => sum + outcome.price, 0)
    const before = own.reduce((sum, one) => sum + (without.get(keyOf(one)) ?? 0), 0)
    return [name, `$${price.toFixed(2)}`, before === 0 ? '–' : `${(100 * (price / before - 1)).toFixed(1)} %`]
  })
  return {
    title: 'The cache clock: two weeks with the pauses of a person',
    parts: [
      `Written by \`npm run bench -- clock\`. One session of ${tasksInTwoWeeks} tasks as in [cost.md](cost.md), six on each weekday. Short pauses have the
shape of those in real sessions (up to their 95 % quantile, 72 minutes); lunch takes 45 to 75 minutes, and each morning begins between 9:00 and 9:30
(\`calendar.ts\`). All rows have the default settings without notes and differ in \`cacheMarks\` and \`compactWhenIdle\`
([cost.md](../../docs/cost.md#the-cache-clock)).`,
      table(['rule', 'price', 'change'], sums),
      table(
        ['kind', 'seed', 'rule', 'price', 'change', 'tasks done', 'compactions', 'read M', 'written M', 'mean k'],
        ran.map((one) => [
          one.setup.kind,
          one.setup.seed,
          one.name,
          `$${one.outcome.price.toFixed(2)}`,
          change(one),
          `${one.outcome.done} of ${one.setup.tasks}`,
          one.outcome.compactions,
          (one.outcome.read / 1_000_000).toFixed(1),
          (one.outcome.written / 1_000_000).toFixed(2),
          Math.round(one.outcome.mean / 1_000),
        ]),
      ),
    ],
  }
}

function keyOf({ setup }: Ran): string {
  return `${setup.kind} ${setup.seed}`
}
