// A process that adds messages from several tasks at once, reports the acknowledged ones on stdout, and kills itself right after
// an acknowledgement: the first one that its store did not confirm, or the last.
import { writeSync } from 'node:fs'
import type { SessionStore } from '../../core/ports/session-store.ts'
import type { Session } from '../../core/session/session-api.ts'
import { offline } from '../../models/offline.ts'
import { createEngine } from '../../node-engine.ts'
import { mulberry32 } from '../../testing/random.ts'
import { type StorePlace, storeAt } from './every-store.ts'

export type KilledWriterInput = {
  /** A transcript, or a store. */
  readonly place: { readonly type: 'transcript'; readonly path: string } | StorePlace
  readonly messages: number
}

async function write({ place, messages }: KilledWriterInput): Promise<void> {
  const confirmed = new Set<string>()
  const session = await sessionAt(place, (id) => confirmed.add(id))
  const random = mulberry32(7)
  let acknowledged = 0
  const task = async () => {
    for (;;) {
      for (let ticks = Math.floor(random() * 10); ticks > 0; ticks--) await Promise.resolve()
      const uuids = session.add({ role: 'user', content: 'Remember this.' })
      await session.stored()
      writeSync(1, uuids.map((uuid) => `${uuid}\n`).join(''))
      acknowledged += uuids.length
      const isUnconfirmed = place.type !== 'transcript' && uuids.some((uuid) => !confirmed.has(uuid))
      if (isUnconfirmed || acknowledged >= messages) process.kill(process.pid, 'SIGKILL')
    }
  }
  await Promise.all([task(), task(), task()])
}

function sessionAt(place: KilledWriterInput['place'], onStored: (id: string) => void): Promise<Session> {
  const engine = { model: offline(), settings: { sessionMemory: false } } as const
  if (place.type === 'transcript') return createEngine(engine).start({ path: place.path })
  return createEngine({ ...engine, store: watched(storeAt(place), onStored) }).start({ id: 'killed' })
}

function watched(store: SessionStore, onStored: (id: string) => void): SessionStore {
  return {
    ...store,
    open: async (id, options) => {
      const result = await store.open(id, options)
      if (result.type !== 'opened') return result
      const { session } = result
      const append: typeof session.append = async (records, expected) => {
        const appended = await session.append(records, expected)
        if (appended.type === 'stored') for (const record of records) onStored(record.id)
        return appended
      }
      return { type: 'opened', session: { ...session, append } }
    },
  }
}

if (process.argv[2]?.startsWith('{')) await write(JSON.parse(process.argv[2]) as KilledWriterInput)
