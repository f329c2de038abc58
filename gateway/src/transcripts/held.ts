// Sessions that this process holds for writing. They are held for a while after the last write, because the next request of a
// conversation usually follows soon, and released when others need the room.
import type { HeldSession, OpenOptions, SessionStore, StoredRecord } from 'everlong/stores'

export type Holding = {
  readonly held: HeldSession
  version: number
  /** Ids of the records that are known to be in the session. */
  readonly known: Set<string>
  /** All records are known, not only those of the live window. */
  isWhole: boolean
  /** The newest message of the main thread. */
  newest: string | undefined
  /** The newest summary that the client asked for. */
  compacted: CompactedBy | undefined
}

export type CompactedBy = { readonly trigger: 'manual' | 'auto'; readonly by: 'client' | 'everlong' }

export type Appending = { readonly type: 'stored' } | { readonly type: 'not-stored'; readonly why: string }

export type HoldOptions = {
  readonly storeOf: (tenant: string) => SessionStore
  readonly owner: string
  /** How long a session is held after its last use. */
  readonly holdMs: number
  /** How many are held at most. */
  readonly maxHeld: number
  /** How long to wait for a session that another writer holds. */
  readonly waitMs: number
}

export type Hold = {
  /** One at a time for each session. */
  readonly use: <T>(place: Place, task: (holding: Holding) => Promise<T>) => Promise<T>
  /** Releases a session, so that somebody else can write it. */
  readonly release: (tenant: string, session: string) => Promise<void>
  readonly close: () => Promise<void>
}

export type Place = {
  readonly tenant: string
  readonly session: string
  readonly parent?: string | undefined
}

type Slot = { tail: Promise<unknown>; holding: Holding | undefined; timer: NodeJS.Timeout | undefined; waiting: number }

export function createHold(options: HoldOptions): Hold {
  const slots = new Map<string, Slot>()
  const drop = async (name: string, slot: Slot): Promise<void> => {
    clearTimeout(slot.timer)
    const { holding } = slot
    slot.holding = undefined
    if (slot.waiting === 0 && slots.get(name) === slot) slots.delete(name)
    await holding?.held.release()
  }
  /** The tasks of a slot, one after the other. */
  const queued = <T>(slot: Slot, task: () => Promise<T>): Promise<T> => {
    slot.waiting++
    const run = slot.tail.then(task, task).finally(() => slot.waiting--)
    slot.tail = run.catch(() => undefined)
    return run
  }
  const idle = () => [...slots].filter(([, { waiting, holding }]) => waiting === 0 && holding)
  const makeRoom = async (): Promise<void> => {
    for (const [name, slot] of idle().slice(0, Math.max(0, slots.size - options.maxHeld)))
      await queued(slot, () => drop(name, slot))
  }
  const use = async <T>(place: Place, task: (holding: Holding) => Promise<T>): Promise<T> => {
    const name = JSON.stringify([place.tenant, place.session])
    const slot = slots.get(name) ?? { tail: Promise.resolve(), holding: undefined, timer: undefined, waiting: 0 }
    // The most recently used one last.
    slots.delete(name)
    slots.set(name, slot)
    const result = queued(slot, async () => {
      clearTimeout(slot.timer)
      slot.holding ??= await take(place, options)
      try {
        return await task(slot.holding)
      } catch (error) {
        await drop(name, slot)
        throw error
      } finally {
        slot.timer = setTimeout(() => void queued(slot, () => drop(name, slot)), options.holdMs).unref()
      }
    })
    await makeRoom()
    return result
  }
  return {
    use,
    release: async (tenant, session) => {
      const name = JSON.stringify([tenant, session])
      const slot = slots.get(name)
      if (slot) await queued(slot, () => drop(name, slot))
    },
    close: async () => {
      for (const [name, slot] of [...slots]) await queued(slot, () => drop(name, slot))
    },
  }
}

async function take({ tenant, session, parent }: Place, options: HoldOptions): Promise<Holding> {
  const store = options.storeOf(tenant)
  const how: Omit<OpenOptions, 'as'> = { owner: options.owner, ...(parent === undefined ? {} : { parent }) }
  const until = Date.now() + options.waitMs
  for (let wait = 20; ; wait = Math.min(500, wait * 2)) {
    const existing = await store.open(session, { ...how, as: 'existing' })
    const opened = existing.type === 'missing' ? await store.open(session, { ...how, as: 'new' }) : existing
    if (opened.type === 'opened') return holdingOf(opened.session)
    if (opened.type === 'held' && Date.now() >= until) throw new Error(opened.why)
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

function holdingOf(held: HeldSession): Holding {
  const known = new Set<string>()
  let newest: string | undefined
  for (const { record } of held.entries) {
    if (typeof record.uuid !== 'string') continue
    known.add(record.uuid)
    if (record.type === 'user' || record.type === 'assistant') newest = record.uuid
  }
  return { held, version: held.version, known, isWhole: held.isWhole, newest, compacted: undefined }
}

/** What is known of the session is complete after this. */
export async function knowAll(holding: Holding): Promise<void> {
  if (holding.isWhole) return
  for (const { record } of await holding.held.all()) if (typeof record.uuid === 'string') holding.known.add(record.uuid)
  holding.isWhole = true
}

export async function append(holding: Holding, records: readonly StoredRecord[]): Promise<Appending> {
  const fresh = records.filter(({ id }) => !holding.known.has(id))
  if (fresh.length === 0) return { type: 'stored' }
  const appended = await holding.held.append(fresh, holding.version)
  if (appended.type !== 'stored') return { type: 'not-stored', why: appended.why }
  holding.version = appended.version
  for (const { id } of fresh) holding.known.add(id)
  return { type: 'stored' }
}
