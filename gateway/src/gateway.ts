// The gateway behind a port: builds its parts from the configuration, listens, and stops without cutting answers short.
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { jsonlSessions } from 'everlong/node'
import type { SessionStore } from 'everlong/stores'
import type { Books, Row } from './books/book.ts'
import { createMetrics } from './books/metrics.ts'
import type { Config } from './config/schema.ts'
import { createApp, type StoreProblem } from './http/app.ts'
import { createIdentify } from './identify/identify.ts'
import { createManaged } from './levels/managed.ts'
import { createLimits } from './limits.ts'
import { createLog } from './log.ts'
import type { Parts } from './parts.ts'
import { openState, type State } from './state/sqlite.ts'
import { createTenants } from './tenants.ts'
import { createHold } from './transcripts/held.ts'
import { createRecorder } from './transcripts/recorder.ts'
import { createTranscripts } from './transcripts/transcripts.ts'
import { createUpstreams } from './upstreams.ts'

export type GatewayPorts = {
  /** Takes lines of the log. */
  readonly write: (line: string) => void
  readonly now?: () => number
  readonly newId?: () => string
  /** Where the sessions of a tenant are. Default: a folder for each tenant below the data folder. */
  readonly storeOf?: (tenant: string) => SessionStore
  /** Where the engine's sessions of level 3 are. Default: the same, next to them. */
  readonly managedStoreOf?: (tenant: string) => SessionStore
  /** Undefined if the store can be used, otherwise why not: for /readyz. */
  readonly storeProblem?: StoreProblem
  /** Books, and ends of conversations. Default: a file in the data folder. */
  readonly state?: State
}

export type Gateway = {
  readonly port: number
  readonly url: string
  /** Resolves when everything that has passed is written. For tests. */
  readonly settled: () => Promise<void>
  /** Refuses new requests, waits for running answers up to the limit of the configuration, and writes what is left. */
  readonly close: () => Promise<void>
}

export async function startGateway(config: Config, ports: GatewayPorts): Promise<Gateway> {
  const { now = Date.now, newId = randomUUID } = ports
  const state = ports.state ?? openState(join(config.data, 'gateway.db'))
  const log = createLog(ports.write, now)
  const storeOf = ports.storeOf ?? folderStores(join(config.data, 'sessions'))
  const managed = createManaged({
    ...{ storeOf: ports.managedStoreOf ?? folderStores(join(config.data, 'managed')), max: 200 },
    onEvent: (tenant, { type, sessionId }) => {
      if (type === 'compaction-finished') log('info', 'compacted', { tenant, session: sessionId })
    },
  })
  const hold = createHold({
    ...{ storeOf, owner: `everlong gateway ${process.pid}` },
    ...{ holdMs: 600_000, maxHeld: 500, waitMs: 10_000 },
  })
  const identify = createIdentify(state.heads, newId)
  const upstreams = createUpstreams(config)
  const limits = createLimits(now)
  const metrics = createMetrics(() => recorder.waiting())
  const recorder = createRecorder({
    ...{ config, identify, log, transcripts: createTranscripts(hold, now) },
    books: counted(state.books, (row) => {
      metrics.count(row)
      limits.used(row, row.input + row.output + row.cacheRead + row.cacheWrite)
    }),
  })
  let isStopping = false
  const parts: Parts = {
    ...{
      config,
      log,
      now,
      upstreams,
      recorder,
      identify,
      managed,
      limits,
      metrics,
      books: state.books,
      tenants: createTenants(config),
    },
    isStopping: () => isStopping,
    recallFolder: (tenant) => recallFolder(join(config.data, 'sessions', tenant), ports),
  }
  const app = createApp(parts, ports.storeProblem ?? (async () => undefined))
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server
  limitTimes(server, config)
  const port = await listen(server, config.listen)
  const stop = async (): Promise<void> => {
    await closed(server, config.limits.stopMs)
    upstreams.close()
    await recorder.settled()
    await hold.close()
    await managed.close()
    if (!ports.state) await state.close()
  }
  let closing: Promise<void> | undefined
  return {
    port,
    url: `http://${config.listen.host.includes(':') ? `[${config.listen.host}]` : config.listen.host}:${port}`,
    settled: recorder.settled,
    close: () => {
      isStopping = true
      closing ??= stop()
      return closing
    },
  }
}

/** A tenant that has said nothing yet has an empty one. */
function recallFolder(folder: string, { storeOf }: GatewayPorts): string | undefined {
  if (storeOf) return undefined
  mkdirSync(folder, { recursive: true })
  return folder
}

/** A folder of transcripts for each tenant. */
function folderStores(folder: string): (tenant: string) => SessionStore {
  const stores = new Map<string, SessionStore>()
  return (tenant) => {
    const store = stores.get(tenant) ?? jsonlSessions({ folder: join(folder, tenant) })
    stores.set(tenant, store)
    return store
  }
}

/** Tells of every row before it is stored: counters hold also when the books cannot be written. */
function counted(books: Books, tell: (row: Row) => void): Books {
  return {
    ...books,
    add: async (row) => {
      tell(row)
      await books.add(row)
    },
  }
}

function limitTimes(server: Server, { limits }: Config): void {
  server.requestTimeout = limits.requestMs
  server.headersTimeout = Math.min(limits.requestMs, 30_000)
  // Longer than the idle time of common load balancers, which otherwise reuse a connection that is being closed.
  server.keepAliveTimeout = 75_000
}

function listen(server: Server, { host, port }: Config['listen']): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** Connections without a request end at once, and others when their answer has ended; all of them at the limit. */
function closed(server: Server, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), limitMs)
    // A connection whose answer has ended stays open for the next request, which will not come here.
    const sweep = setInterval(() => server.closeIdleConnections(), 50)
    server.close(() => {
      clearTimeout(limit)
      clearInterval(sweep)
      resolve()
    })
  })
}
