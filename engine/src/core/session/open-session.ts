// Opens a session of a store: waits for another writer, starts a missing session, undoes half a compaction.
import { defined, type JsonObject, stringAt } from '../message/json.ts'
import { appendTo, openIn } from '../ports/checked-store.ts'
import {
  type HeldSession,
  type OpenOptions,
  type OpenResult,
  reasonOf,
  type SessionStore,
} from '../ports/session-store.ts'
import { StoreError } from '../ports/store.ts'
import { undoOfTorn } from '../transcript/format/compaction-records.ts'
import type { StorePorts } from './stored-session.ts'

/** All that an engine needs of a store. */
export type Opener = Pick<SessionStore, 'open'>

export type OpenSessionOptions = Omit<OpenOptions, 'as'> & {
  readonly as: OpenOptions['as'] | 'existing-or-new'
  /** How long to wait for a session that another writer has. Default: not at all. */
  readonly waitMs?: number | undefined
}

/** Throws a StoreError that says why when it cannot be opened. */
export async function openSession(
  store: Opener,
  id: string,
  options: OpenSessionOptions & StorePorts,
): Promise<HeldSession> {
  return repaired(await heldSession(store, id, options), options)
}

/** The session as it is. Throws a StoreError that says why when it cannot be opened. */
export async function heldSession(
  store: Opener,
  id: string,
  { wait, now, as, waitMs = 0, owner, user, parent, isCopy }: OpenSessionOptions & Omit<StorePorts, 'newId'>,
): Promise<HeldSession> {
  const how = { owner, user, parent, ...defined({ isCopy }) }
  const end = now() + waitMs
  for (;;) {
    const found = await openIn(store, id, { ...how, as: as === 'new' ? 'new' : 'existing' })
    const isToBeStarted = found.type === 'missing' && as === 'existing-or-new'
    const result = isToBeStarted ? await openIn(store, id, { ...how, as: 'new' }) : found
    // Somebody else started it in between.
    const isTaken = result.type === 'held' || (isToBeStarted && result.type === 'exists')
    if (result.type === 'opened') return result.session
    if (!isTaken || now() >= end) {
      const cause = result.type === 'held' ? result.holder : undefined
      throw new StoreError(whyNotOpened(result, id), { reason: result.type, cause })
    }
    await wait(50)
  }
}

export function whyNotOpened(result: Exclude<OpenResult, { readonly type: 'opened' }>, id: string): string {
  if (result.why !== undefined) return result.why
  if (result.type === 'missing') return `There is no session ${id}. Start it with start({ id }).`
  return `There is a session ${id} already. Continue it with open(id).`
}

/** A store, or as much of one as there is. */
export type Readable = Opener & Partial<Pick<SessionStore, 'records'>>

/** Everything of a session, without taking it. Throws a StoreError if there is nothing. */
export async function recordsIn({ records }: Readable, id: string): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  for await (const { record } of records?.(id) ?? []) found.push(record)
  if (found.length > 0) return found
  throw new StoreError(`There is no session ${id}, or it has no records.`, { reason: 'missing' })
}

/** The id that the records carry, or else the name of the file or the id in the store. */
export function sessionIdOf({ entries, path, id }: HeldSession): string {
  const name = path?.replace(/^.*[/\\]/s, '').replace(/(?<=.)\.[^.]*$/s, '')
  return entries.map(({ record }) => stringAt(record, 'sessionId')).find((found) => found !== undefined) ?? name ?? id
}

/** Half a compaction, left by a crash or copied here, is undone by one more record. */
async function repaired(session: HeldSession, { newId, now }: StorePorts): Promise<HeldSession> {
  const undo = undoOfTorn(session.entries, { uuid: newId(), timestamp: new Date(now()).toISOString() })
  if (undo === undefined) return session
  const appended = await appendTo(session, [{ id: String(undo.record.uuid), record: undo.record }], session.version)
  if (appended.type === 'stored') {
    return { ...session, version: appended.version, entries: await session.all(), isWhole: true }
  }
  await session.release()
  throw new StoreError(appended.why, { reason: reasonOf(appended) })
}
