// Sessions that this process holds for writing. On one machine they are held for a while after the last write, because the next
// request of a conversation usually follows soon. Where other processes write too, they are released at once, and only the ids of
// their records are remembered.
import { StoreError } from 'everlong'
import type { HeldSession, SessionStore, StoredRecord } from 'everlong/stores'

export type Holding = {
  readonly held: HeldSession
  version: number
  /** Ids of the records that are known to be in the session. */
  readonly known: Set<string>
  /** All records are known, not only those of the live window. */
  isWhole: boolean
  /** The newest message of the main thread. */
  newest: string | undefined
}

export type HoldOptions = {
  readonly storeOf: (tenant: string) => SessionStore
  readonly owner: string
  /** How long a session is held after its last use. 0: only during use. */
  readonly holdMs: number
  /** Maximum number of held or remembered sessions. */
  readonly maxHeld: number
  /** How long to wait for a session that another writer holds. */
  readonly waitMs: number
}

export type Hold = {
  /** One at a time for each session. Throws a StoreError if the session cannot be opened. */
  readonly use: <T>(place: Place, task: (holding: Holding) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export type Place = {
  readonly tenant: string
  readonly session: string
  readonly parent?: string | undefined
  /** The user of a new session. */
  readonly user?: string | undefined
}

/** Facts about a session when it was released. */
type Remembered = Pick<Holding, 'version' | 'known'> & { readonly last: string | undefined }

type Slot = {
  tail: Promise<unknown>
  waiting: number
  holding: Holding | undefined
  remembered: Remembered | undefined
  timer: NodeJS.Timeout | undefined
}

export function createHold(options: HoldOptions): Hold {
  const slots = new Map<string, Slot>()
  const release = async (slot: Slot): Promise<void> => {
    clearTimeout(slot.timer)
    const { holding } = slot
    slot.holding = undefined
    await holding?.held.release()
  }
  /** The tasks of a slot, one after the other. */
  const queued = <T>(slot: Slot, task: () => Promise<T>): Promise<T> => {
    slot.waiting++
    const run = slot.tail.then(task, task).finally(() => slot.waiting--)
    slot.tail = run.catch(() => undefined)
    return run
  }
  const makeRoom = async (): Promise<void> => {
    const idle = [...slots].filter(([, { waiting }]) => waiting === 0)
    for (const [name, slot] of idle.slice(0, Math.max(0, slots.size - options.maxHeld))) {
      slots.delete(name)
      await queued(slot, () => release(slot))
    }
  }
  const finish = async (slot: Slot): Promise<void> => {
    if (options.holdMs > 0) {
      slot.timer = setTimeout(() => void queued(slot, () => release(slot)), options.holdMs).unref()
    } else if (slot.waiting === 1) await release(slot)
  }
  const use = async <T>(place: Place, task: (holding: Holding) => Promise<T>): Promise<T> => {
    const name = JSON.stringify([place.tenant, place.session])
    const slot = slots.get(name) ?? emptySlot()
    // Most recently used last.
    slots.delete(name)
    slots.set(name, slot)
    const result = queued(slot, async () => {
      clearTimeout(slot.timer)
      slot.holding ??= await take(place, { ...options, remembered: slot.remembered })
      try {
        const done = await task(slot.holding)
        slot.remembered = rememberedOf(slot.holding)
        return done
      } catch (error) {
        // The remembered facts may be wrong.
        slot.remembered = undefined
        await release(slot)
        throw error
      } finally {
        await finish(slot)
      }
    })
    await makeRoom()
    return result
  }
  return {
    use,
    close: async () => {
      for (const slot of slots.values()) await queued(slot, () => release(slot))
      slots.clear()
    },
  }
}

function emptySlot(): Slot {
  return { tail: Promise.resolve(), waiting: 0, holding: undefined, remembered: undefined, timer: undefined }
}

type Taking = HoldOptions & { readonly remembered: Remembered | undefined }

async function take({ tenant, session, parent, user }: Place, options: Taking): Promise<Holding> {
  const store = whenFree(options.storeOf(tenant), options.waitMs)
  const whose = { ...(parent === undefined ? {} : { parent }), ...(user === undefined ? {} : { user }) }
  const how = { owner: options.owner, isAppendOnly: true, ...whose }
  for (;;) {
    const existing = await store.open(session, { ...how, as: 'existing' })
    const opened = existing.type === 'missing' ? await store.open(session, { ...how, as: 'new' }) : existing
    if (opened.type === 'opened') return holdingOf(opened.session, options.remembered)
    if (opened.type === 'held') throw new StoreError(opened.why, { reason: 'held' })
    // Another process has started or erased it in the meantime.
  }
}

/** The same store, but opening a session that another writer holds waits. */
export function whenFree(store: SessionStore, waitMs: number): SessionStore {
  return {
    ...store,
    open: async (id, options) => {
      const until = Date.now() + waitMs
      for (let wait = 20; ; wait = Math.min(500, wait * 2)) {
        const opened = await store.open(id, options)
        if (opened.type !== 'held' || Date.now() >= until) return opened
        await new Promise((resolve) => setTimeout(resolve, wait))
      }
    },
  }
}

async function holdingOf(held: HeldSession, remembered: Remembered | undefined): Promise<Holding> {
  try {
    return held.idsAfter ? await byIds(held, { idsAfter: held.idsAfter, remembered }) : byEntries(held)
  } catch (error) {
    await held.release()
    throw error
  }
}

function byEntries(held: HeldSession): Holding {
  const known = new Set<string>()
  let newest: string | undefined
  for (const { record } of held.entries) {
    if (typeof record.uuid !== 'string') continue
    known.add(record.uuid)
    if (record.type === 'user' || record.type === 'assistant') newest = record.uuid
  }
  return { held, version: held.version, known, isWhole: held.isWhole, newest }
}

type KnownSession = {
  readonly idsAfter: (version: number) => Promise<readonly string[]>
  readonly remembered: Remembered | undefined
}

/**
 * Reads only the ids of new records if the session is still the remembered one. It may have been erased and started again. Every
 * append ends with a message, so the last id identifies it.
 */
async function byIds(held: HeldSession, { idsAfter, remembered }: KnownSession): Promise<Holding> {
  const { version } = held
  const isPossible = remembered !== undefined && remembered.version > 0 && remembered.version <= version
  const [last, ...added] = isPossible ? await idsAfter(remembered.version - 1) : []
  const isSame = isPossible && last === remembered.last
  const ids = isSame ? added : await idsAfter(0)
  const known = new Set([...(isSame ? remembered.known : []), ...ids])
  return { held, version, known, isWhole: true, newest: ids.at(-1) ?? (isSame ? last : undefined) }
}

function rememberedOf({ version, known, newest, isWhole }: Holding): Remembered | undefined {
  return isWhole ? { version, known, last: newest } : undefined
}

/** Afterwards, the known records are complete. */
export async function knowAll(holding: Holding): Promise<void> {
  if (holding.isWhole) return
  for (const { record } of await holding.held.all()) if (typeof record.uuid === 'string') holding.known.add(record.uuid)
  holding.isWhole = true
}

/** Stores records that are not known to be there. Throws a StoreError if they cannot be stored. */
export async function append(holding: Holding, records: readonly StoredRecord[]): Promise<void> {
  const fresh = records.filter(({ id }) => !holding.known.has(id))
  if (fresh.length === 0) return
  const appended = await holding.held.append(fresh, holding.version)
  if (appended.type !== 'stored') {
    const reason = appended.type === 'unavailable' ? 'unavailable' : (appended.reason ?? 'failed')
    throw new StoreError(appended.why, { reason })
  }
  holding.version = appended.version
  for (const { id } of fresh) holding.known.add(id)
  holding.newest = fresh.at(-1)?.id
}
