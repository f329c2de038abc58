// Clients that use the recorder without a socket, for properties with many conversations. Not part of the package.
import type { JsonObject } from 'everlong/internal'
import { memorySessions, type SessionStore } from 'everlong/stores'
import { checkConfig } from '../config/load.ts'
import { messages as dialect } from '../dialects/messages.ts'
import { createIdentify } from '../identify/identify.ts'
import type { Log } from '../log.ts'
import { alwaysThere } from '../state/health.ts'
import { openState } from '../state/sqlite.ts'
import { noTrace } from '../telemetry/telemetry.ts'
import { writeExchange } from '../transcripts/exchange.ts'
import { createHold } from '../transcripts/held.ts'
import { createRecorder } from '../transcripts/recorder.ts'
import { createTranscripts } from '../transcripts/transcripts.ts'

export type Said = { readonly role: 'user' | 'assistant'; readonly content: string | readonly object[] }

export type Sending = {
  readonly tenant: string
  readonly messages: readonly Said[]
  /** Undefined if it broke off. */
  readonly answer: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly tools?: readonly object[]
}

export function recording() {
  const stores = new Map<string, SessionStore>()
  const storeOf = (tenant: string): SessionStore => {
    const store = stores.get(tenant) ?? memorySessions()
    stores.set(tenant, store)
    return store
  }
  const lines: string[] = []
  const state = openState(':memory:')
  const hold = createHold({ storeOf, owner: 'test', holdMs: 60_000, maxHeld: 3, waitMs: 0 })
  let count = 0
  let answers = 0
  const config = checkConfig({}, 'the test')
  const log: Log = (_level, event, facts) => void lines.push(`${event} ${facts?.why ?? ''}`)
  const { books, notes, heads } = state
  const parts = {
    keepAlive: { seen: async () => undefined },
    ...{ config, log, books, notes, identify: createIdentify(heads, () => `s${++count}`) },
    transcripts: createTranscripts({ hold, notes, now: () => 0 }),
  }
  const recorder = createRecorder({
    ...{ config, log, health: alwaysThere, concurrency: 1 },
    record: (passed) => writeExchange(passed, parts),
  })
  return {
    lines,
    ...{ books, notes },
    send: async ({ tenant, messages, answer, headers = {}, tools = [] }: Sending): Promise<void> => {
      const message = {
        type: 'message',
        id: `m${++answers}`,
        role: 'assistant',
        model: 'claude-opus-5',
        stop_reason: 'end_turn',
      }
      const said = {
        ...message,
        content: [{ type: 'text', text: answer }],
        usage: { input_tokens: 5, output_tokens: 1 },
      }
      recorder.add({
        id: message.id,
        ...{
          caller: { tenant, key: 'k', level: 'observe', limits: {} },
          level: 'observe',
          upstream: 'u',
          headers,
          dialect,
        },
        ...{
          own: [],
          isHandover: false,
          ...{ trace: noTrace, time: 0, ms: 0, request: {} as never },
          bytes: Buffer.from(JSON.stringify({ model: 'claude-opus-5', max_tokens: 9, messages, tools })),
        },
        forwarded: {
          ...{ type: 'answered', status: 200, headers: {}, isWhole: true, firstByteMs: 0 },
          bytes: Buffer.from(answer === undefined ? '' : JSON.stringify(said)),
        },
      })
      await recorder.settled()
    },
    /** The records of every session of a tenant, by id. */
    sessions: async (tenant: string): Promise<ReadonlyMap<string, readonly JsonObject[]>> => {
      const found = new Map<string, readonly JsonObject[]>()
      for (const { id } of await storeOf(tenant).list()) {
        const records: JsonObject[] = []
        for await (const { record } of storeOf(tenant).records(id)) records.push(record)
        found.set(id, records)
      }
      return found
    },
  }
}
