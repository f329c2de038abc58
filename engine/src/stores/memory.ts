// Sessions in memory, behind the same port as those on disk and in a database: for tests and short-lived hosts.
import type { JsonObject } from '../core/message/json.ts'
import type {
  Appended,
  Erasure,
  HeldSession,
  ListOptions,
  OpenOptions,
  OpenResult,
  SessionInfo,
  SessionStore,
  StoredRecord,
} from '../core/ports/session-store.ts'
import { noPosition } from '../core/ports/store.ts'
import { readFrom, recallFrom } from '../core/session/platform.ts'
import type { Entry } from '../core/transcript/format/entry.ts'
import { isAlreadyStored, selects } from './rules.ts'

type Kept = {
  readonly records: StoredRecord[]
  readonly user: string | undefined
  readonly parent: string | undefined
  changed: number
  holder: string | undefined
}

export function memorySessions({ now = Date.now }: { readonly now?: () => number } = {}): SessionStore {
  const sessions = new Map<string, Kept>()
  return {
    open: async (id, options) => open(sessions, { id, now, options }),
    records: async function* (id) {
      yield* sessions.get(id)?.records ?? []
    },
    list: async (options = {}) => list(sessions, options),
    erase: async (which) => erase(sessions, which, now()),
    close: async () => undefined,
  }
}

type Opening = { readonly id: string; readonly now: () => number; readonly options: OpenOptions }

function open(sessions: Map<string, Kept>, { id, now, options }: Opening): OpenResult {
  const { as, owner = 'everlong', user, parent } = options
  const found = sessions.get(id)
  if (as === 'new' && found) return { type: 'exists' }
  if (as === 'existing' && !found) return { type: 'missing' }
  const by = found?.holder
  if (by !== undefined) return { type: 'held', by, why: `The session ${id} is being written by ${by}.` }
  const kept = found ?? { records: [], user, parent, changed: now(), holder: undefined }
  kept.holder = owner
  sessions.set(id, kept)
  return { type: 'opened', session: held({ id, kept, now, isHeld: () => sessions.get(id) === kept }) }
}

type Holding = { readonly id: string; readonly kept: Kept; readonly now: () => number; readonly isHeld: () => boolean }

function held({ id, kept, now, isHeld }: Holding): HeldSession {
  const { records } = kept
  const entries = () => records.map(({ record }) => entryOf(record))
  let isReleased = false
  const append = async (added: readonly StoredRecord[], expected: number): Promise<Appended> => {
    if (isReleased || !isHeld()) return { type: 'refused', why: `The session ${id} is no longer held by this writer.` }
    if (expected !== records.length) {
      return isAlreadyStored(records.slice(expected), added)
        ? { type: 'stored', version: expected + added.length }
        : { type: 'refused', why: `The session ${id} has changed since version ${expected}.` }
    }
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
    recall: async (words, limit) => recallFrom(entries(), words, limit),
    read: async (wanted) => readFrom(entries(), wanted),
    release: async () => {
      if (!isReleased) kept.holder = undefined
      isReleased = true
    },
  }
}

function entryOf(record: JsonObject): Entry {
  return { record, position: noPosition }
}

function infoOf(id: string, { user, parent, changed, holder }: Kept): SessionInfo {
  return {
    id,
    ...(user === undefined ? {} : { user }),
    ...(parent === undefined ? {} : { parent }),
    changed: new Date(changed).toISOString(),
    isHeld: holder !== undefined,
  }
}

function list(sessions: ReadonlyMap<string, Kept>, { user, after, limit = 1_000 }: ListOptions): SessionInfo[] {
  return [...sessions]
    .filter(([id, kept]) => (user === undefined || kept.user === user) && (after === undefined || id > after))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([id, kept]) => infoOf(id, kept))
}

function erase(sessions: Map<string, Kept>, which: Erasure, now: number): number {
  const before = sessions.size
  const infos = [...sessions].map(([id, kept]) => infoOf(id, kept))
  for (const info of infos) if (selects(which, info, now)) eraseWithAgents(sessions, info.id)
  return before - sessions.size
}

function eraseWithAgents(sessions: Map<string, Kept>, id: string): void {
  sessions.delete(id)
  for (const [other, { parent }] of [...sessions]) if (parent === id) eraseWithAgents(sessions, other)
}
