// Every kind of store, for tests that apply to all of them: memory, a folder, and PostgreSQL if it can be started. Add a new
// store here and in no other list.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionStore } from '../../core/ports/session-store.ts'
import { jsonlSessions } from '../disk/jsonl.ts'
import { memorySessions } from '../memory.ts'
import { postgres } from '../postgres/postgres.ts'
import { postgresForTests } from './postgres-server.ts'

/** The place of a store that several processes can open. It is JSON, so that a test can pass it to another process. */
export type StorePlace =
  | { readonly type: 'folder'; readonly folder: string }
  | { readonly type: 'postgres'; readonly url: string; readonly schema: string }

export function storeAt(place: StorePlace): SessionStore {
  switch (place.type) {
    case 'folder':
      return jsonlSessions({ folder: place.folder })
    case 'postgres':
      return postgres({ url: place.url, schema: place.schema })
  }
}

export type EveryStore = {
  /** Stores by name; each call creates an empty one. `stop` closes them. */
  readonly stores: readonly (readonly [string, () => SessionStore])[]
  /** Places of stores that several processes can open; each call creates the place of an empty one. */
  readonly places: readonly (readonly [string, () => StorePlace])[]
  /** A temporary folder, also for the test's own files. */
  readonly folder: string
  readonly stop: () => Promise<void>
}

export async function everyStore(): Promise<EveryStore> {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-stores-'))
  const server = await postgresForTests()
  let schemas = 0
  const places: [string, () => StorePlace][] = [
    ['a folder', () => ({ type: 'folder', folder: mkdtempSync(join(folder, 'sessions-')) })],
  ]
  if (server) places.push(['PostgreSQL', () => ({ type: 'postgres', url: server.url, schema: `every_${++schemas}` })])
  const opened: SessionStore[] = []
  const open = (store: SessionStore) => {
    opened.push(store)
    return store
  }
  return {
    folder,
    places,
    stores: [
      ['memory', () => memorySessions()],
      ...places.map(([name, place]) => [name, () => open(storeAt(place()))] as const),
    ],
    stop: async () => {
      await Promise.all(opened.map((store) => store.close()))
      rmSync(folder, { recursive: true, force: true })
      await server?.stop()
    },
  }
}
