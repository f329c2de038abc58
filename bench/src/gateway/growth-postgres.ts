// What each request needs of PostgreSQL as its tables grow, over one connection to a server on this machine.
import { openStores } from '@everlong/gateway'
import { postgresForTests } from '../../../engine/src/stores/testing/postgres-server.ts'
import { fillPostgres, growthSchema } from '../../../gateway/src/testing/fill-postgres.ts'
import { rowCounts, rowOf, timed } from './growth.ts'

type Quantiles = { readonly p50: number; readonly p99: number }

export type PostgresGrowth = {
  readonly rows: number
  /** Milliseconds: a session is found by its id and taken for writing. */
  readonly byId: Quantiles
  /** It is found by the longest known prefix of 40 messages, two of them new. */
  readonly byPrefix: Quantiles
  /** Two messages are appended. */
  readonly append: Quantiles
  readonly addRow: Quantiles
  /** Of a day, of one tenant. */
  readonly report: Quantiles
}

/** Empty where there is no PostgreSQL for this platform. */
export async function measurePostgresGrowth(): Promise<readonly PostgresGrowth[]> {
  const server = await postgresForTests()
  if (!server) return []
  const measured: PostgresGrowth[] = []
  for (const rows of rowCounts) {
    const schema = `${growthSchema}_${rows}`
    await fillPostgres(server.url, rows, schema)
    measured.push(await measure(server.url, schema, rows))
  }
  await server.stop()
  return measured
}

const repeats = 300

async function measure(url: string, schema: string, rows: number): Promise<PostgresGrowth> {
  const config = { data: '', store: { postgres: url, schema, connections: 1, leaseMs: 10_000 }, encryption: undefined }
  const { state, storeOf, close } = openStores(config as never, () => undefined)
  const times = { byId: [], byPrefix: [], append: [], addRow: [], report: [] } as Record<string, number[]>
  for (let at = -20; at < repeats; at++) {
    const known = (Math.abs(at) * 7_919) % rows
    const tenant = `t${known % 10}`
    const store = storeOf(tenant)
    const note = (name: string, ms: number) => void (at >= 0 && times[name]?.push(ms))
    let opened: Awaited<ReturnType<typeof store.open>> | undefined
    const how = { as: 'existing', owner: 'bench', isAppendOnly: true } as const
    note('byId', await timed(async () => (opened = await store.open(`s${Math.floor(known / 400)}`, how))))
    if (opened?.type !== 'opened') throw new Error(`The session was ${opened?.type}.`)
    const { session } = opened
    const records = ['a', 'b'].map((letter) => {
      const id = `${at}-${letter}-${rows}`
      return { id, record: { uuid: id, type: 'user', message: { role: 'user', content: 'x '.repeat(500) } } }
    })
    note('append', await timed(() => session.append(records, session.version)))
    await session.release()
    // 38 messages are known, ten rows apart, and two are new.
    const places = Array.from({ length: 40 }, (_, depth) => ({
      ...{ digest: depth < 38 ? `d${(known + 10 * depth) % rows}` : `new-${at}-${depth}`, depth: depth + 1 },
    }))
    note('byPrefix', await timed(() => state.heads.claim({ tenant, places, newId: () => `n${at}` })))
    note('addRow', await timed(() => state.books.add(rowOf(at + 1_000))))
    if (at % 10 === 0)
      note('report', await timed(() => state.books.sums({ tenant: 't1', since: Date.now() - 86_400_000 })))
  }
  await close()
  const quantiles = Object.fromEntries(Object.entries(times).map(([name, list]) => [name, quantilesOf(list)]))
  return { rows, ...quantiles } as PostgresGrowth
}

function quantilesOf(times: readonly number[]): Quantiles {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}
