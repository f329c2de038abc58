// A session of a store, as an engine runs it.
import { stringAt } from '../core/message/json.ts'
import type { HeldSession, OpenOptions, OpenResult, SessionStore } from '../core/ports/session-store.ts'
import { StoreError } from '../core/ports/store.ts'
import type { OpenedSession } from '../core/session/platform.ts'
import { undoOfTorn } from '../core/transcript/format/compaction-records.ts'
import { type BufferPorts, bufferedStore } from './buffered.ts'

export type StoredSessionOptions = OpenOptions & BufferPorts & { readonly now: () => number }

/** Throws a StoreError that says why when it cannot be opened. */
export async function openStored(
  store: SessionStore,
  id: string,
  options: StoredSessionOptions,
): Promise<OpenedSession> {
  const { newId, wait, now, ...how } = options
  const result = await store.open(id, how)
  if (result.type !== 'opened') throw new StoreError(whyNotOpened(result, id))
  const session = await repaired(result.session, options)
  const { entries, isWhole } = session
  const records = bufferedStore(session, { newId, wait })
  const named = entries.map(({ record }) => stringAt(record, 'sessionId')).find((given) => given !== undefined) ?? id
  return {
    id: named,
    store: records,
    entries,
    isWhole,
    recall: async (words, limit) => {
      await records.flush?.()
      return session.recall(words, limit)
    },
    read: async (wanted) => {
      await records.flush?.()
      return session.read(wanted)
    },
    // The entries of a sub-agent carry the id of the session it belongs to.
    subagent: async (agentId) => ({
      ...(await openStored(store, subagentId(id, agentId), { ...options, as: 'new', parent: id })),
      id: named,
    }),
  }
}

export function subagentId(session: string, agentId: string): string {
  return `${session}/subagents/agent-${agentId}`
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
  const appended = await session.append([{ id: String(undo.record.uuid), record: undo.record }], session.version)
  if (appended.type === 'stored') {
    return { ...session, version: appended.version, entries: await session.all(), isWhole: true }
  }
  await session.release()
  throw new StoreError(appended.why)
}
