// Every kind of store, for tests that hold on all of them: memory, a folder, and PostgreSQL where it can be started.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionStore } from '../../core/ports/session-store.ts'
import { jsonlSessions } from '../disk/jsonl.ts'
import { memorySessions } from '../memory.ts'
import { postgresForTests } from './postgres-server.ts'

export type EveryStore = {
  /** By name; each call makes an empty one. */
  readonly stores: readonly (readonly [string, () => SessionStore])[]
  /** A temporary folder for the test's own files too. */
  readonly folder: string
  readonly stop: () => Promise<void>
}

export async function everyStore(): Promise<EveryStore> {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-stores-'))
  const server = await postgresForTests()
  return {
    folder,
    stores: [
      ['memory', () => memorySessions()],
      ['a folder', () => jsonlSessions({ folder: mkdtempSync(join(folder, 'sessions-')) })],
      ...(server ? [['PostgreSQL', () => server.store()] as const] : []),
    ],
    stop: async () => {
      rmSync(folder, { recursive: true, force: true })
      await server?.stop()
    },
  }
}
