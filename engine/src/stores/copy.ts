// Copies sessions from one store to another, record by record, completely and unchanged.
import {
  appendTo,
  openIn,
  reasonOf,
  type SessionInfo,
  type SessionStore,
  type StoredRecord,
  StoreError,
} from '../core/ports/session-store.ts'
import { whyNotOpened } from '../core/session/stored-session.ts'

export type CopyOptions = {
  readonly from: SessionStore
  readonly to: SessionStore
  /** Default: all. Sub-agents are copied with their session. */
  readonly sessions?: readonly string[]
}

export type Copied = {
  readonly sessions: number
  readonly records: number
  /** Sessions that already exist in the other store. They are not changed. */
  readonly skipped: readonly string[]
}

const batchSize = 500

/** Copies a session whole or not at all. Throws a StoreError if one of the stores cannot be used. */
export async function copySessions({ from, to, sessions }: CopyOptions): Promise<Copied> {
  const wanted = sessions && new Set(sessions)
  const skipped: string[] = []
  let copied = 0
  let records = 0
  for await (const info of sessionsOf(from)) {
    if (wanted && !wanted.has(info.id) && !wanted.has(info.parent ?? '')) continue
    wanted?.add(info.id)
    const count = await copyOne(from, to, info)
    if (count === undefined) skipped.push(info.id)
    else {
      copied++
      records += count
    }
  }
  return { sessions: copied, records, skipped }
}

/** By id, so that a session comes before its sub-agents. */
async function* sessionsOf(store: SessionStore): AsyncGenerator<SessionInfo> {
  let after: string | undefined
  for (;;) {
    const page = await store.list(after === undefined ? {} : { after })
    yield* page
    after = page.at(-1)?.id
    if (after === undefined) return
  }
}

async function copyOne(from: SessionStore, to: SessionStore, info: SessionInfo): Promise<number | undefined> {
  const { id, user, parent } = info
  const opened = await openIn(to, id, { as: 'new', owner: 'everlong copy', user, parent, isCopy: true })
  if (opened.type === 'exists') return undefined
  if (opened.type !== 'opened') throw new StoreError(whyNotOpened(opened, id), { reason: opened.type })
  const { session } = opened
  let { version } = session
  let count = 0
  const write = async (batch: readonly StoredRecord[]) => {
    if (batch.length === 0) return
    const appended = await appendTo(session, batch, version)
    if (appended.type !== 'stored')
      throw new StoreError(`The session ${id} was not copied: ${appended.why}`, { reason: reasonOf(appended) })
    version = appended.version
    count += batch.length
  }
  try {
    let batch: StoredRecord[] = []
    for await (const record of from.records(id)) {
      batch.push(record)
      if (batch.length < batchSize) continue
      await write(batch)
      batch = []
    }
    await write(batch)
  } catch (error) {
    await session.release()
    await to.erase({ sessions: [id] })
    throw error
  }
  await session.release()
  return count
}
