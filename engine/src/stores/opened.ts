// A session of a store, as an engine runs it.
import { defined } from '../core/message/json.ts'
import { subagentId } from '../core/ports/session-id.ts'
import {
  type HeldSession,
  type OpenOptions,
  type OpenResult,
  reasonOf,
  type SessionStore,
} from '../core/ports/session-store.ts'
import { StoreError } from '../core/ports/store.ts'
import { type OpenedSession, sessionIdIn } from '../core/session/platform.ts'
import { undoOfTorn } from '../core/transcript/format/compaction-records.ts'
import { BufferedStore, type BufferPorts } from './buffered.ts'
import { appendTo, openIn } from './checked.ts'

export type StoredSessionOptions = Omit<OpenOptions, 'as'> &
  BufferPorts & {
    readonly as: OpenOptions['as'] | 'existing-or-new'
    /** How long to wait for a session that another writer has. Default: not at all. */
    readonly waitMs?: number | undefined
  }

/** Throws a StoreError that says why when it cannot be opened. */
export async function openStored(
  store: SessionStore,
  id: string,
  options: StoredSessionOptions,
): Promise<OpenedSession> {
  const { newId, now, wait } = options
  const session = await repaired(await heldSession(store, id, options), options)
  const { entries, isWhole } = session
  const records = new BufferedStore(session, { newId, now, wait })
  const named = sessionIdIn(entries) ?? id
  return {
    id: named,
    store: records,
    entries,
    isWhole,
    recall: async (words, limit) => {
      await records.flush()
      return session.recall(words, limit)
    },
    read: async (wanted) => {
      await records.flush()
      return session.read(wanted)
    },
    // The entries of a sub-agent carry the id of the session it belongs to.
    subagent: async (agentId) => ({
      ...(await openStored(store, subagentId(id, `agent-${agentId}`), { ...options, as: 'new', parent: id })),
      id: named,
    }),
  }
}

/** Throws a StoreError that says why when it cannot be had. */
export async function heldSession(
  store: SessionStore,
  id: string,
  { wait, now, as, waitMs = 0, owner, user, parent, isCopy }: Omit<StoredSessionOptions, 'newId'>,
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
    if (!isTaken || now() >= end) throw new StoreError(whyNotOpened(result, id), { reason: result.type })
    await wait(50)
  }
}

export function whyNotOpened(result: Exclude<OpenResult, { readonly type: 'opened' }>, id: string): string {
  if (result.type === 'missing') return `There is no session ${id}. Start it with start({ id }).`
  if (result.type === 'exists') return `There is a session ${id} already. Continue it with open(id).`
  return result.why
}

/** A compaction of which only a part was copied here is undone by one more record. */
async function repaired(session: HeldSession, { newId, now }: StoredSessionOptions): Promise<HeldSession> {
  const undo = undoOfTorn(session.entries, { uuid: newId(), timestamp: new Date(now()).toISOString() })
  if (undo === undefined) return session
  const appended = await appendTo(session, [{ id: String(undo.record.uuid), record: undo.record }], session.version)
  if (appended.type === 'stored') {
    return { ...session, version: appended.version, entries: await session.all(), isWhole: true }
  }
  await session.release()
  throw new StoreError(appended.why, { reason: reasonOf(appended) })
}
