// `npm run bench -- store`: append, open, fold and recall in one session, in PostgreSQL next to a folder of transcripts,
// among more and more other sessions. Both take turns in one run.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { foldEntries, type JsonObject } from 'everlong/internal'
import { generateSession } from 'everlong/internal/testing'
import { jsonlSessions } from 'everlong/node'
import type { HeldSession, SessionStore } from 'everlong/stores'
import { postgresForTests } from '../../../engine/src/stores/testing/postgres-server.ts'
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { median } from '../median.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { entriesOfOthers, fillDatabase, fillFolder } from './fill.ts'

const amounts = [1, 1_000, 100_000]
const rounds = 30
const operations = ['append', 'open', 'fold', 'recall, rare word', 'recall, common word', 'read by id'] as const

type Operation = (typeof operations)[number]
type Times = Record<Operation, number[]>
type StoreName = 'PostgreSQL' | 'JSONL'
type Figures = {
  readonly sessions: number
  readonly store: StoreName
  readonly ms: Readonly<Record<Operation, number>>
}

type Report = { readonly node: string; readonly entries: number; readonly figures: readonly Figures[] }

export const benchmark = defineBenchmark({ name: 'store', run: () => inTemporaryFolder(run), page })

async function run(folder: string): Promise<Report> {
  const server = await postgresForTests()
  if (!server) throw new Error('This benchmark needs PostgreSQL.')
  const cache = process.env.EVERLONG_CACHE_DIR
  process.env.EVERLONG_CACHE_DIR = join(folder, 'cache')
  try {
    const records = [...generateSession({ seed: 9, turns: 60, boundaries: 4 })]
    const stores = {
      PostgreSQL: server.store({ schema: 'bench' }),
      JSONL: jsonlSessions({ folder: join(folder, 'sessions') }),
    }
    for (const store of Object.values(stores)) await write(store, records)
    const figures: Figures[] = []
    let there = 1
    for (const sessions of amounts) {
      const range = { from: there, to: sessions }
      fillFolder(join(folder, 'sessions'), records, range)
      await fillDatabase(server, 'bench', range)
      there = sessions
      figures.push(...(await measure(stores, sessions)))
    }
    return { node: process.version, entries: records.length, figures }
  } finally {
    if (cache === undefined) delete process.env.EVERLONG_CACHE_DIR
    else process.env.EVERLONG_CACHE_DIR = cache
    await server.stop()
  }
}

async function take(store: SessionStore, as: 'new' | 'existing'): Promise<HeldSession> {
  const opened = await store.open('subject', { as, isCopy: true })
  if (opened.type !== 'opened') throw new Error(`The session is ${opened.type}.`)
  return opened.session
}

async function write(store: SessionStore, records: readonly JsonObject[]): Promise<void> {
  const session = await take(store, 'new')
  await session.append(
    records.map((record, at) => ({ id: typeof record.uuid === 'string' ? record.uuid : `no-uuid-${at}`, record })),
    session.version,
  )
  await session.release()
}

async function measure(
  stores: Readonly<Record<StoreName, SessionStore>>,
  sessions: number,
): Promise<readonly Figures[]> {
  const names = Object.keys(stores) as StoreName[]
  const times = Object.fromEntries(
    names.map((name) => [name, Object.fromEntries(operations.map((operation) => [operation, []]))]),
  ) as unknown as Record<StoreName, Times>
  for (let round = -3; round < rounds; round++) {
    for (const name of names) {
      const one = await oneRound(stores[name], `${sessions}-${round}`)
      // The first rounds warm up.
      if (round >= 0) for (const operation of operations) times[name][operation].push(one[operation])
    }
  }
  return names.map((store) => {
    const ms = Object.fromEntries(operations.map((operation) => [operation, rounded(median(times[store][operation]))]))
    return { sessions, store, ms: ms as Record<Operation, number> }
  })
}

async function oneRound(store: SessionStore, name: string): Promise<Record<Operation, number>> {
  const [session, open] = await timed(() => take(store, 'existing'))
  const [, fold] = await timed(async () => foldEntries(session.entries))
  const uuid = `added-${name}`
  const tip = session.entries.findLast(({ record }) => typeof record.uuid === 'string')?.record.uuid ?? null
  const message = { role: 'user', content: `One more prompt, about the xylophone of round ${name}.` }
  const record = { type: 'user', uuid, parentUuid: tip, message }
  const [, append] = await timed(() => session.append([{ id: uuid, record }], session.version))
  const [, rare] = await timed(() => session.recall('xylophone', 10))
  const [, common] = await timed(() => session.recall('error', 10))
  const [, read] = await timed(() => session.read(uuid))
  await session.release()
  return { append, open, fold, 'recall, rare word': rare, 'recall, common word': common, 'read by id': read }
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const began = performance.now()
  const result = await work()
  return [result, performance.now() - began]
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}

function page({ node, entries, figures }: Report): Page {
  return {
    title: 'Session stores',
    parts: [
      `One session of ${entries.toLocaleString('en-US')} entries with four compactions, alone and among others of ${entriesOfOthers} entries, in PostgreSQL next to a folder of transcripts. Median of ${rounds} rounds in milliseconds; both take turns in one run on one machine, Node ${node}, the database over TCP without fsync. Recall on disk opens the archive each time. \`npm run bench -- store\` makes this page.`,
      table(
        ['sessions', 'store', ...operations],
        figures.map(({ sessions, store, ms }) => [sessions, store, ...operations.map((operation) => ms[operation])]),
      ),
    ],
  }
}
