// Sessions in memory, with the same port as those on disk and in a database, for tests and short-lived hosts.
import { defined, type JsonObject } from '../core/message/json.ts'
import {
  type Appended,
  checkNewSessionId,
  entriesOf,
  type HeldSession,
  noPosition,
  type OpenOptions,
  type OpenResult,
  type SessionInfo,
  type SessionStore,
  type StoredRecord,
} from '../core/ports/session-store.ts'
import { type Opener, recallIn } from '../core/session/stored-session.ts'
import type { Entry } from '../core/transcript/format/entry.ts'
import { isAlreadyStored, sessionsToErase, sessionsToList } from './rules.ts'

type Kept = {
  readonly records: StoredRecord[]
  readonly user: string | undefined
  readonly parent: string | undefined
  changed: number
  holder: string | undefined
}

export function memorySessions({ now = Date.now }: { readonly now?: () => number } = {}): SessionStore {
  const sessions = new Map<string, Kept>()
  const infos = () => [...sessions].map(([id, kept]) => infoOf(id, kept))
  return {
    open: async (id, options) => open(sessions, { id, now, options }),
    records: async function* (id) {
      yield* sessions.get(id)?.records ?? []
    },
    list: async (options) => sessionsToList(infos(), options),
    erase: async (which) => {
      const chosen = sessionsToErase(infos(), which, now())
      for (const id of chosen) sessions.delete(id)
      return chosen.size
    },
    close: async () => undefined,
  }
}

/** Sessions of an engine without a store: each starts once and cannot be opened again. */
export const inMemory: Opener = {
  open: async (id, options) => {
    if (options.as === 'new') {
      checkNewSessionId(id, options)
      return { type: 'opened', session: memorySession(id) }
    }
    const why = `There is no session ${id}: this engine has no store. Pass createEngine() one as "store".`
    return { type: 'missing', why }
  },
}

/** A session that is gone when the program drops it. */
export function memorySession(id: string, entries: readonly Entry[] = []): HeldSession {
  const all = [...entries]
  const appendNow = (records: readonly JsonObject[]) => {
    for (const record of records) all.push({ record, position: noPosition })
    return { type: 'stored' } as const
  }
  return {
    id,
    version: all.length,
    entries,
    isWhole: true,
    appendNow,
    append: async (records) => ({ ...appendNow(records.map(({ record }) => record)), version: all.length }),
    all: async () => all,
    ...recallIn(() => all),
    release: async () => undefined,
  }
}

type Opening = { readonly id: string; readonly now: () => number; readonly options: OpenOptions }

function open(sessions: Map<string, Kept>, { id, now, options }: Opening): OpenResult {
  const { as, owner = 'everlong', user, parent } = options
  if (as === 'new') checkNewSessionId(id, options)
  const found = sessions.get(id)
  if (as === 'new' && found) return { type: 'exists' }
  if (as === 'existing' && !found) return { type: 'missing' }
  const by = found?.holder
  if (by !== undefined) return { type: 'held', by, why: `The session ${id} is being written by ${by}.` }
  const kept = found ?? { records: [], user, parent, changed: now(), holder: undefined }
  kept.holder = owner
  sessions.set(id, kept)
  return { type: 'opened', session: heldSession({ id, kept, now, isHeld: () => sessions.get(id) === kept }) }
}

type HeldInput = {
  readonly id: string
  readonly kept: Kept
  readonly now: () => number
  readonly isHeld: () => boolean
}

function heldSession({ id, kept, now, isHeld }: HeldInput): HeldSession {
  const { records } = kept
  const entries = () => entriesOf(records)
  let isReleased = false
  const append = async (added: readonly StoredRecord[], expected: number): Promise<Appended> => {
    if (isReleased)
      return { type: 'refused', why: `The session ${id} is closed. Open it again to write.`, reason: 'closed' }
    if (!isHeld()) return { type: 'refused', why: `The session ${id} was erased.`, reason: 'lost' }
    if (expected !== records.length) {
      return isAlreadyStored(idsOf(records.slice(expected)), idsOf(added))
        ? { type: 'stored', version: expected + added.length }
        : { type: 'refused', why: `The session ${id} has changed since version ${expected}.`, reason: 'lost' }
    }
    if (repeatsId(records, added))
      return { type: 'refused', why: `A record has a uuid that the session ${id} has already.`, reason: 'invalid' }
    records.push(...added.map(({ id: own, record }) => ({ id: own, record: structuredClone(record) })))
    kept.changed = now()
    return { type: 'stored', version: records.length }
  }
  return {
    id,
    version: records.length,
    entries: entries(),
    isWhole: true,
    append,
    all: async () => entries(),
    ...recallIn(entries),
    release: async () => {
      if (!isReleased) kept.holder = undefined
      isReleased = true
    },
  }
}

function repeatsId(records: readonly StoredRecord[], added: readonly StoredRecord[]): boolean {
  const ids = new Set(idsOf(added))
  return ids.size < added.length || records.some(({ id }) => ids.has(id))
}

function idsOf(records: readonly StoredRecord[]): readonly string[] {
  return records.map(({ id }) => id)
}

function infoOf(id: string, { user, parent, changed, holder }: Kept): SessionInfo {
  const isHeld = holder !== undefined
  return { id, ...defined({ user, parent }), changed: new Date(changed).toISOString(), isHeld }
}
