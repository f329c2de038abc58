// `npm run bench -- gateway`: what the gateway adds to a request next to a bare Hono proxy, what its tables cost as they grow, and what a
// week of ten people costs on level 3 next to level 1. `latency`, `growth`, `postgres` or `price` after the name measures that part again.
import { defineBenchmark, type Page, readFigures, type Target, table, targetTable } from '../benchmark.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { type Growth, measureGrowth } from './growth.ts'
import { measurePostgresGrowth, type PostgresGrowth } from './growth-postgres.ts'
import { bodySizes, type Latency, measureLatency, streamCounts } from './latency.ts'
import { measureWeeks, people, tasksInWeek, type Week } from './week.ts'

export type GatewayReport = {
  readonly node: string
  readonly latency: readonly Latency[]
  readonly growth: readonly Growth[]
  readonly postgres?: readonly PostgresGrowth[]
  readonly weeks: readonly Week[]
}

export const benchmark = defineBenchmark({
  name: 'gateway',
  run,
  page,
  targets: (report) => [...targetsOf(report.latency), ...balanceTarget(report.weeks)],
})

function run(args: readonly string[]): Promise<GatewayReport> {
  const isAsked = (part: string) => args.length === 0 || args.includes(part)
  const stored = args.length > 0 ? storedFigures() : undefined
  return inTemporaryFolder(async (folder) => ({
    node: process.versions.node,
    latency: isAsked('latency') ? await measureLatency(folder, print) : (stored?.latency ?? []),
    growth: isAsked('growth') ? await measureGrowth(folder) : (stored?.growth ?? []),
    postgres: isAsked('postgres') ? await measurePostgresGrowth() : (stored?.postgres ?? []),
    weeks: isAsked('price') ? await measureWeeks(folder) : (stored?.weeks ?? []),
  }))
}

function storedFigures(): GatewayReport | undefined {
  try {
    return readFigures<GatewayReport>('gateway')
  } catch {
    return undefined
  }
}

const print = ({ kind, streams, bytes, p50, p99 }: Latency) =>
  console.error(`${kind}, ${streams} streams, ${bytes} bytes: ${ms(p50)}, ${ms(p99)}`)

const ms = (value: number) => `${value.toFixed(1)} ms`
const sizeName = (bytes: number) => (bytes >= 1_000_000 ? '1 MB' : '10 kB')
const kindNames = {
  direct: 'no proxy',
  hono: 'bare Hono proxy',
  observe: 'level 1',
  answer: 'level 2',
  manage: 'level 3',
}

/** What a process adds: its quantile less that of the same load without it. */
function added(rows: readonly Latency[], { kind, streams, bytes, p50, p99 }: Latency) {
  const direct = rows.find((one) => one.kind === 'direct' && one.streams === streams && one.bytes === bytes)
  return { kind, streams, bytes, p50: p50 - (direct?.p50 ?? 0), p99: p99 - (direct?.p99 ?? 0) }
}

function targetsOf(rows: readonly Latency[]): readonly Target[] {
  const levels = rows.filter(({ kind }) => kind === 'observe' || kind === 'answer').map((row) => added(rows, row))
  return levels.map(({ kind, streams, bytes, p50, p99 }) => ({
    what: `${kindNames[kind]}, ${streams} streams, ${sizeName(bytes)}: added, p50 and p99`,
    wanted: 'at most 3 and 15 ms',
    measured: `${ms(p50)}, ${ms(p99)}`,
    met: p50 <= 3 && p99 <= 15,
  }))
}

/** The books against what the same week costs without level 3. */
function balanceTarget([observed, managed]: readonly Week[]): readonly Target[] {
  if (!observed || !managed) return []
  const saved = observed.price - managed.price
  const share = managed.report.balance / saved - 1
  return [
    {
      what: 'balance in the books next to the difference between the two weeks',
      wanted: 'within 10 %',
      measured: `$${managed.report.balance.toFixed(2)} next to $${saved.toFixed(2)} (${(100 * share).toFixed(1)} %)`,
      met: Math.abs(share) <= 0.1,
    },
  ]
}

function latencyTable(rows: readonly Latency[]) {
  const inOrder = bodySizes.flatMap((bytes) =>
    streamCounts.flatMap((streams) => rows.filter((row) => row.bytes === bytes && row.streams === streams)),
  )
  return table(
    [
      'body',
      'streams',
      'through',
      'p50',
      'p99',
      'added, p50',
      'added, p99',
      'processor per request',
      'requests per core and second',
      'memory per stream',
    ],
    inOrder.map((row) => {
      const more = added(rows, row)
      const isDirect = row.kind === 'direct'
      return [
        ...[sizeName(row.bytes), row.streams, kindNames[row.kind], ms(row.p50), ms(row.p99)],
        ...(isDirect ? ['', '', '', ''] : [ms(more.p50), ms(more.p99), ms(row.cpuMs), Math.round(1_000 / row.cpuMs)]),
        row.megabytesPerStream === undefined || isDirect ? '' : `${row.megabytesPerStream.toFixed(2)} MB`,
      ]
    }),
  )
}

const columns = ['find by id', 'find by prefix', 'append', 'add a row', 'report of a day']

/** Median and 99th percentile. */
function postgresRows(postgres: readonly PostgresGrowth[]): readonly (readonly string[])[] {
  const both = ({ p50, p99 }: PostgresGrowth['byId']) => `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`
  return postgres.map(({ rows, byId, byPrefix, append, addRow, report }) => [
    rows.toLocaleString('en'),
    ...[byId, byPrefix, append, addRow, report].map(both),
  ])
}

function page({ node, latency, growth, postgres = [], weeks }: GatewayReport): Page {
  const [observed, managed] = weeks
  return {
    title: 'The gateway',
    parts: [
      `Written by \`npm run bench -- gateway\` with Node ${node}, on a machine with two cores that clients, upstream and the measured process share.`,
      `Time from sending a request to the first event of its answer. An answer has four events a second for ten seconds, so with 500 streams
50 requests begin every second, over 100 conversations. Without a proxy, through a bare Hono proxy (\`hono/proxy\`) and through levels 1 and 2, one after the
other in the same run; with one stream they take turns request by request. "Added" is the quantile less that without a proxy. Processor time has
everything that happens to a request, writing its transcript and events of other streams included.`,
      targetTable([...targetsOf(latency), ...balanceTarget(weeks)]),
      latencyTable(latency),
      growth.length === 0
        ? undefined
        : 'The state of one machine (SQLite) with this many rows in the books and as many heads of conversations. Each request without a name claims its conversation (here 40 messages, two of them new) and adds a row.',
      growth.length === 0
        ? undefined
        : table(
            ['rows', 'claim', 'add a row', 'report of a day', 'file'],
            growth.map((one) => [
              ...[one.rows, `${one.claim.toFixed(2)} ms`, `${one.addRow.toFixed(2)} ms`],
              ...[ms(one.report), `${one.megabytes.toFixed(1)} MB`],
            ]),
          ),
      ...(postgres.length === 0
        ? []
        : [
            'PostgreSQL with this many rows in the books, heads of conversations, notes and records of sessions, over one connection to a server on this machine: median and 99th percentile. A test checks that none of this reads a whole table.',
            table(['rows', ...columns], postgresRows(postgres)),
          ]),
      observed && managed
        ? `A week of ${people} people, ${tasksInWeek} tasks each with six rounds, at a clock that is turned by the pauses of working days. Their client sends everything each time and
compacts by itself at 83.5 % of 200,000 tokens. Prices are those of the simulator, everything included. The books of level 3 compare each request with what the client alone would have sent
(docs/gateway.md), and know nothing of the week on level 1.`
        : undefined,
      observed && managed
        ? table(
            [
              'level',
              'requests',
              'price',
              'change',
              'compactions by clients',
              'calls of the gateway',
              'their price',
              'tokens removed',
              'balance in the books',
            ],
            weeks.map(({ level, requests, price, compactions, report }) => [
              ...[
                kindNames[level],
                requests,
                `$${price.toFixed(2)}`,
                `${(100 * (price / observed.price - 1)).toFixed(1)} %`,
              ],
              ...[compactions, report.own.requests, `$${report.own.cost.toFixed(2)}`],
              ...[Math.round(report.removed.tokens), `$${report.balance.toFixed(2)}`],
            ]),
          )
        : undefined,
    ],
  }
}

/** For the page on scale. */
export function scaleTables({ latency, growth, postgres = [] }: GatewayReport): string {
  const rows = latency.filter(
    ({ kind, streams }) => (kind === 'observe' || kind === 'hono') && streams === Math.max(...streamCounts),
  )
  const lines = rows.map((row) => {
    const { p50, p99 } = added(latency, row)
    const memory = `${(row.megabytesPerStream ?? 0).toFixed(1)} MB`
    return `| ${row.streams} streams, ${sizeName(row.bytes)} | ${kindNames[row.kind]} | ${ms(p50)} | ${ms(p99)} | ${ms(row.cpuMs)} | ${memory} |`
  })
  const tables = growth.map(
    (one) =>
      `| ${one.rows.toLocaleString('en')} | ${one.claim.toFixed(2)} ms | ${one.addRow.toFixed(2)} ms | ${ms(one.report)} |`,
  )
  return [
    ...[
      '| load | through | added, p50 | added, p99 | processor per request | memory per stream |',
      '| --- | --- | --- | --- | --- | --- |',
    ],
    ...lines,
    ...['', '| rows in SQLite | claim a conversation | add a row | report of a day |', '| --- | --- | --- | --- |'],
    ...tables,
    ...['', `| rows in PostgreSQL | ${columns.join(' | ')} |`, '| --- | --- | --- | --- | --- | --- |'],
    ...postgresRows(postgres).map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n')
}
