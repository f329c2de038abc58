// Reads the targets out of each benchmark's results. Those that state their own are taken as they are.
import type { Ran } from '../cost/pool.ts'
import { against, type CostReport } from '../cost/report-markdown.ts'
import type { EngineReport } from '../engine/report.ts'
import type { TokensReport } from '../tokens/report-markdown.ts'
import type { Target } from './target.ts'

type Reader = (results: unknown) => readonly Target[]

const own: Reader = (results) => (results as { readonly targets: readonly Target[] }).targets
const percent = (share: number, digits = 1) => `${(100 * share).toFixed(digits)} %`

export const readers: Readonly<Record<string, Reader>> = {
  handover: own,
  rounds: own,
  cost: (results) => cost(results as CostReport),
  speed: own,
  compact: own,
  memory: (results) => memory(results as MemoryResults),
  engine: (results) => engine(results as EngineReport),
  soak: own,
  tokens: (results) => tokens(results as TokensReport),
}

function cost({ compared, long }: CostReport): readonly Target[] {
  const told = (rows: readonly Ran[], tasks: number) =>
    ['thrifty', 'the defaults', 'the defaults without notes'].flatMap((name) =>
      against(rows, name).map(
        ({ kind, peer, peerDone, less }): Target => ({
          what: `price under the best peer, ${kind}, ${tasks} tasks, ${name}`,
          wanted: '25 % less',
          measured: `${percent(Math.abs(less), 1)} ${less < 0 ? 'more' : 'less'} (${peer}, ${peerDone} done)`,
          met: less >= 0.25,
        }),
      ),
    )
  return [...told(compared, 33), ...told(long, 111)]
}

type MemoryResults = {
  readonly wanted: number
  readonly rows: readonly { readonly mechanism: string; readonly later: number }[]
}

function memory({ wanted, rows }: MemoryResults): readonly Target[] {
  return rows
    .filter(({ mechanism }) => mechanism === 'session-memory')
    .map(({ later }) => ({
      what: 'a compaction from notes',
      wanted: `below ${wanted} ms`,
      measured: `${later.toFixed(1)} ms`,
      met: later < wanted,
    }))
}

function engine({ targets }: EngineReport): readonly Target[] {
  return targets.map(({ what, wanted, milliseconds }) => ({
    what,
    wanted: `below ${wanted} ms`,
    measured: `${milliseconds.toFixed(2)} ms`,
    met: milliseconds < wanted,
  }))
}

function tokens(report: TokensReport): readonly Target[] {
  const worst = report.categories
    .filter(({ category }) => category !== 'rare-han')
    .toSorted((a, b) => b.errors.o200k.fitted.mean - a.errors.o200k.fitted.mean)
  const over = worst.filter(({ errors }) => errors.o200k.fitted.mean > 0.1)
  const shown = (over.length > 0 ? over : worst.slice(0, 1)).map(
    ({ category, errors }) => `${category} ${percent(errors.o200k.fitted.mean)}`,
  )
  const total = Array.isArray(report.sessions) ? report.sessions.at(-1)?.mean : undefined
  const slowest = Math.min(...report.speed.filter(({ name }) => name === 'Everlong').map(({ best }) => best))
  return [
    {
      what: 'mean error on packages that nothing was fitted to',
      wanted: '5 % at most',
      measured: percent(report.fresh.bySample),
      met: report.fresh.bySample <= 0.05,
    },
    { what: 'every category but rare Han', wanted: '10 % at most', measured: shown.join(', '), met: over.length === 0 },
    ...(total === undefined
      ? []
      : [
          {
            what: 'the next total of real sessions',
            wanted: '0.2 % on average',
            measured: percent(total, 2),
            met: total <= 0.002,
          },
        ]),
    { what: 'speed', wanted: '200 MB/s', measured: `${slowest.toFixed(0)} MB/s`, met: slowest >= 200 },
  ]
}
