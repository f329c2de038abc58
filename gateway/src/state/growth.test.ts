// Large tables in PostgreSQL: nothing that a request, a report of a period or a daily job does reads a whole table. Every statement is
// explained right before it runs, with its own values.
import { connect } from 'everlong/internal/node'
import { postgres } from 'everlong/postgres'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { postgresForTests } from '../../../engine/src/stores/testing/postgres-server.ts'
import { fillPostgres, growthSchema, unlessStopped } from '../testing/fill-postgres.ts'
import { postgresState } from './postgres.ts'

const server = await postgresForTests()
afterAll(() => server?.stop())

type Plan = {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

const nodesIn = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesIn)]

/** A pool whose connections explain what they are asked for. */
function explainingPool(connectionString: string) {
  const plans: Promise<Plan>[] = []
  const Explaining = class extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: the driver's own signature has a dozen forms.
    override query(...words: any[]): any {
      const [asked, values = asked?.values] = words
      const text: string = typeof asked === 'string' ? asked : asked?.text
      if (/^\s*(select|insert|update|delete|with)/i.test(text)) {
        const explained = super.query({
          text: `EXPLAIN (FORMAT JSON) ${text}`,
          values: Array.isArray(values) ? values : [],
        })
        plans.push(explained.then(({ rows }) => rows[0]['QUERY PLAN'][0].Plan))
      }
      return super.query(...(words as Parameters<pg.Client['query']>))
    }
  }
  const pool = new pg.Pool({ connectionString, max: 2, Client: Explaining as never })
  return { pool: unlessStopped(pool), plans }
}

test.runIf(server)('no statement reads a whole large table', { timeout: 60_000 }, async () => {
  if (!server) return
  await fillPostgres(server.url, 30_000)
  const { pool, plans } = explainingPool(server.url)
  const state = postgresState(connect({ pool }, 0), `${growthSchema}_gateway`)
  const since = Date.now() - 86_400_000
  const tenant = 't1'
  const places = Array.from({ length: 40 }, (_, depth) => ({ digest: `d${depth * 10 + 1}`, depth: depth + 1 }))
  await state.heads.claim({ tenant, places, newId: () => 'new' })
  await state.heads.answered(tenant, 's-new', { digest: 'd-new', depth: 41 })
  await state.notes.put(tenant, 's1', 'watch', 'x')
  await state.notes.get(tenant, 's1', 'watch')
  await state.notes.remove(tenant, 's1', 'watch')
  expect((await state.books.sums({ tenant, since })).length).toBeGreaterThan(0)
  expect((await state.books.sums({ since })).length).toBeGreaterThan(0)
  expect(await state.tenants()).toEqual(Array.from({ length: 10 }, (_, at) => `t${at}`))
  await state.sessionsOf(tenant, 'user1')
  await state.forget(tenant, ['s1', 's2'])
  await state.anonymize(tenant, 'user1')
  await state.expire({ tenant, before: Date.now() - 29 * 86_400_000 })
  const store = postgres({ pool, tenant, schema: growthSchema })
  const opened = await store.open('s1', { as: 'existing', owner: 'test', isAppendOnly: true })
  if (opened.type !== 'opened') throw new Error(opened.type)
  const record = { uuid: 'new', type: 'user', message: { role: 'user', content: 'hello' } }
  expect(await opened.session.append([{ id: 'new', record }], opened.session.version)).toMatchObject({ type: 'stored' })
  await opened.session.release()
  await store.erase({ sessions: ['s2'] })
  const nodes = (await Promise.all(plans)).flatMap(nodesIn)
  await pool.end()
  const large = new Set(['entry', 'head', 'note', 'request'])
  const isWhole = (node: Plan) => node['Node Type'] === 'Seq Scan' && large.has(node['Relation Name'] ?? '')
  expect(plans.length).toBeGreaterThan(15)
  expect(nodes.filter(isWhole)).toEqual([])
})
