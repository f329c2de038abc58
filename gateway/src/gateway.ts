// The gateway on a port: builds its parts from the configuration, listens, and stops without cutting answers short.
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { type EngineEvent, StoreError } from 'everlong'
import type { Books, Row } from './books/book.ts'
import { createMetrics } from './books/metrics.ts'
import type { Environment } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { createApp } from './http/app.ts'
import { createInFlight } from './http/in-flight.ts'
import { closeServer, listen, serverOptions } from './http/server.ts'
import { createIdentify } from './identify/identify.ts'
import type { Jobs } from './jobs/jobs.ts'
import { createKeepAlive } from './keep-alive/keep-alive.ts'
import { createManaged } from './levels/managed.ts'
import { createLimits } from './limits/limits.ts'
import { createLog, type Log } from './log.ts'
import type { Parts } from './parts.ts'
import { removeOld } from './retention.ts'
import { makeFolder } from './state/folder.ts'
import type { StoreHealth } from './state/health.ts'
import { openStores, type StoreOf, type Stores } from './stores.ts'
import { startTelemetry } from './telemetry/start.ts'
import { createTenants } from './tenants.ts'
import { writeExchange } from './transcripts/exchange.ts'
import { createHold } from './transcripts/held.ts'
import { createRecorder } from './transcripts/recorder.ts'
import { createTranscripts } from './transcripts/transcripts.ts'
import { createUpstreams } from './upstreams.ts'

export type GatewayPorts = {
  /** Writes lines of the log. */
  readonly write: (line: string) => void
  readonly now?: () => number
  readonly newId?: () => string
  /** The variables of OpenTelemetry. Default: the process's environment. */
  readonly environment?: Environment
  /** The store of a tenant's sessions. Default: from the configuration. */
  readonly storeOf?: StoreOf
  /** The store of the engine's sessions of level 3. Default: from the configuration. */
  readonly managedStoreOf?: StoreOf
  /** Health of the store. Default: a database is checked every few seconds. */
  readonly health?: StoreHealth
}

export type Gateway = {
  readonly port: number
  readonly url: string
  /** Resolves when every passed exchange is written. For tests. */
  readonly settled: () => Promise<void>
  /** Refuses new requests, waits for running answers up to the configured limit, and writes everything that is left. */
  readonly close: () => Promise<void>
}

/** Throws a StoreError, or an error of the system, if the configured store cannot be used. */
export async function startGateway(config: Config, ports: GatewayPorts): Promise<Gateway> {
  const { now = Date.now, newId = randomUUID, environment = process.env } = ports
  const log = createLog(ports.write, now)
  const stores = { ...openStores(config, log), ...definedPorts(ports) }
  await prepare(stores, config)
  const { state, health } = stores
  // Longer than a session stays taken after its writer was killed.
  const waitMs = config.store ? config.store.leaseMs * 2 : 10_000
  const managed = createManaged({
    ...{ storeOf: stores.managedStoreOf, max: 200, isShared: stores.isShared, waitMs },
    onEvent: (tenant, event) => logCompaction(log, tenant, event),
  })
  const hold = createHold({
    ...{ storeOf: stores.storeOf, owner: `everlong gateway ${process.pid}` },
    ...{ holdMs: stores.isShared ? 0 : 600_000, maxHeld: 500, waitMs },
  })
  const identify = createIdentify(state.heads, newId)
  const upstreams = createUpstreams(config)
  const limits = createLimits({ config, now, log, health, shared: state.uses })
  const metrics = createMetrics({ waiting: () => recorder.waiting(), problem: health.problem })
  const telemetry = await startTelemetry({ config: config.telemetry, environment, log, now })
  const books = counted(state.books, (row) => {
    metrics.count(row)
    telemetry.count(row)
    limits.used(row, row.input + row.output + row.cacheRead + row.cacheWrite)
  })
  const keepAlive = createKeepAlive({ config, books, notes: state.notes, health, log, now })
  const transcripts = createTranscripts({ hold, notes: state.notes, now })
  const recorder = createRecorder({
    ...{ config, log, health },
    // Fewer than the connections, so that requests of level 3 find a free one.
    concurrency: config.store ? Math.max(1, Math.floor(config.store.connections / 2)) : 1,
    record: (passed) =>
      passed.trace.record(() =>
        writeExchange(passed, { config, log, identify, transcripts, books, keepAlive, notes: state.notes }),
      ),
  })
  const jobs = startJobs(stores, { config, log, now })
  const inFlight = createInFlight()
  let isStopping = false
  const parts: Parts = {
    ...{ config, log, now, inFlight, upstreams, recorder, identify, managed, limits, metrics, health, telemetry },
    ...{ books: state.books, tenants: createTenants(config) },
    isStopping: () => isStopping,
    recallPlace: (tenant) =>
      stores.isShared || stores.isEncrypted || ports.storeOf
        ? { store: stores.storeOf(tenant) }
        : { folder: recallFolder(config, tenant) },
  }
  const server = createAdaptorServer({
    ...{ fetch: createApp(parts).fetch, overrideGlobalObjects: false, serverOptions: serverOptions(config) },
  }) as Server
  const port = await listen(server, { ...config.listen, inFlight })
  const stop = async (): Promise<void> => {
    await closeServer(server, { inFlight, limitMs: config.limits.stopMs })
    await keepAlive.close()
    upstreams.close()
    for (const part of [recorder, hold, managed, jobs, telemetry, stores]) await part?.close()
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

function logCompaction(log: Log, tenant: string, event: EngineEvent): void {
  const { type, sessionId: session } = event
  if (type === 'compaction-finished') log('info', 'compacted', { tenant, session })
  // Says with sizes what leaves no room. Other reasons may quote an upstream.
  if (type === 'compaction-failed' && event.reason === 'no-progress')
    log('warn', 'not-compacted', { tenant, session, why: event.why })
}

function definedPorts({ storeOf, managedStoreOf, health }: GatewayPorts): Partial<Stores> {
  const given = { storeOf, managedStoreOf, health }
  return Object.fromEntries(Object.entries(given).filter(([, port]) => port !== undefined))
}

/** A database that is temporarily unavailable does not prevent the start, unless requests are refused without it anyway. */
async function prepare({ ready, health, close }: Stores, { whenStoreIsAway }: Config): Promise<void> {
  try {
    await ready()
  } catch (error) {
    const isAway = error instanceof StoreError && error.reason === 'unavailable' && whenStoreIsAway === 'pass'
    if (!isAway) {
      await close()
      throw error
    }
    health.failed(error.message)
  }
}

type JobParts = { readonly config: Config; readonly log: Log; readonly now: () => number }

/** Undefined if there is nothing to do. */
function startJobs(stores: Stores, { config, log, now }: JobParts): Jobs | undefined {
  const { sessionDays, bookDays, tenants } = config.retention
  if (sessionDays === undefined && bookDays === undefined && Object.keys(tenants).length === 0) return undefined
  const run = async () => {
    for (const removed of await removeOld(stores, config, now())) log('info', 'removed-old', removed)
  }
  return stores.startJobs({ log, jobs: { retention: { run, everyHours: 24 } } })
}

/** Empty for a tenant without conversations. */
function recallFolder({ data }: Config, tenant: string): string {
  const folder = join(data, 'sessions', tenant)
  makeFolder(folder)
  return folder
}

/** Reports every row once, before it is stored, so that counters are right even if the books cannot be written. */
function counted(books: Books, tell: (row: Row) => void): Books {
  const told = new Set<string>()
  return {
    ...books,
    add: async (row) => {
      if (!told.has(row.id)) tell(row)
      // Rows that could not be stored are added again. Abandoned ones are forgotten eventually.
      if (told.size > 10_000) told.clear()
      told.add(row.id)
      await books.add(row)
      told.delete(row.id)
    },
  }
}
