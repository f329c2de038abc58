// Starts a simulator and a gateway in front of it on local ports for tests, and reads its transcripts. Not part of the package.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningServer, type Script, type ServerOptions, startServer } from '@everlong/simulator'
import { isObject, type JsonObject, objectAt, textOf } from 'everlong/internal'
import { jsonlSessions } from 'everlong/node'
import type { SessionStore } from 'everlong/stores'
import { checkConfig } from '../config/load.ts'
import { type Gateway, type GatewayPorts, startGateway } from '../gateway.ts'

export type Setup = {
  readonly url: string
  readonly folder: string
  readonly gateway: Gateway
  readonly server: RunningServer
  /** The lines of the log. */
  readonly lines: readonly JsonObject[]
  /** The records of each session of a tenant, by id, when everything is written. */
  readonly sessions: (tenant?: string) => Promise<ReadonlyMap<string, readonly JsonObject[]>>
  readonly close: () => Promise<void>
}

export type SetupOptions = {
  readonly script?: Script
  readonly simulator?: Partial<ServerOptions>
  /** Merged over a configuration with the simulator as upstream. */
  readonly config?: object
  readonly ports?: Partial<GatewayPorts>
  /** The folder of an earlier setup. */
  readonly folder?: string
}

/** Numbers its answers, so that no two are alike. */
export function countingScript(): Script {
  let count = 0
  return () => ({ content: [{ type: 'text', text: `Answer ${++count}.` }] })
}

export async function setUp({ script, simulator, config, ports, folder: given }: SetupOptions = {}): Promise<Setup> {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'everlong-gateway-'))
  const server = await startServer({ script: script ?? countingScript(), port: 0, ...simulator })
  const lines: JsonObject[] = []
  const checked = checkConfig(
    {
      ...{ listen: { port: 0 }, data: folder, upstreams: { simulator: { url: server.url } } },
      ...{ defaultUpstreams: { messages: 'simulator', openai: 'simulator' } },
      ...config,
    },
    'the test',
  )
  const removeFolder = () => {
    if (given === undefined) rmSync(folder, { recursive: true, force: true })
  }
  const starting = startGateway(checked, { write: (line) => lines.push(JSON.parse(line)), ...ports })
  const gateway = await starting.catch(async (error: unknown) => {
    await server.close()
    removeFolder()
    throw error
  })
  return {
    ...{ folder, gateway, server, lines, url: gateway.url },
    sessions: async (tenant = 'default') => {
      await gateway.settled()
      return sessionsIn(join(folder, 'sessions', tenant))
    },
    close: async () => {
      await gateway.close()
      await server.close()
      removeFolder()
    },
  }
}

export async function sessionsIn(folder: string): Promise<ReadonlyMap<string, readonly JsonObject[]>> {
  const store = jsonlSessions({ folder })
  const found = new Map<string, readonly JsonObject[]>()
  for (const { id } of await store.list()) found.set(id, await recordsIn(store, id))
  return found
}

export async function recordsIn(store: SessionStore, id: string): Promise<readonly JsonObject[]> {
  const records: JsonObject[] = []
  for await (const { record } of store.records(id)) records.push(record)
  return records
}

/** The conversation line by line: `user: Hello.` */
export function spoken(records: readonly JsonObject[] | undefined): readonly string[] {
  return (records ?? []).flatMap((record) => {
    const message = objectAt(record, 'message')
    return isObject(message)
      ? [`${String(record.type)}: ${textOf(message.content as never)}`]
      : [String(record.subtype)]
  })
}
