// Keeps a copy of a store's sessions up to date while the page is open: copies new sessions and appends new records.
import { StoreError } from 'everlong'
import { copySessions, type SessionInfo, type SessionStore, type StoredRecord } from 'everlong/stores'

export type Following = {
  readonly from: SessionStore
  readonly to: SessionStore
  /** Only this session and its sub-agents. Default: all. */
  readonly session?: string | undefined
  readonly everyMs: number
  /** Called when the store stops answering, and when it answers again. */
  readonly onTrouble: (why: string | undefined) => void
}

/** Returns a function that stops it. */
export function followStore({ everyMs, onTrouble, ...stores }: Following): () => Promise<void> {
  const catchUp = createCatchUp(stores)
  let isStopped = false
  let trouble: string | undefined
  let wake: () => void = () => undefined
  const tell = (why: string | undefined) => {
    if (why !== trouble) onTrouble(why)
    trouble = why
  }
  const run = async () => {
    while (!isStopped) {
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, everyMs).unref()
      })
      if (isStopped) return
      try {
        await catchUp()
        tell(undefined)
      } catch (error) {
        if (!(error instanceof StoreError)) throw error
        tell(error.message)
      }
    }
  }
  const running = run()
  return async () => {
    isStopped = true
    wake()
    await running
  }
}

type Stores = Pick<Following, 'from' | 'to' | 'session'>

function createCatchUp({ from, to, session }: Stores): () => Promise<void> {
  const seen = new Map<string, string>()
  const counts = new Map<string, number>()
  // Two appends can have the same time, so a changed session is read once more.
  const again = new Set<string>()
  const isWanted = ({ id, parent }: SessionInfo) => session === undefined || id === session || parent === session
  return async () => {
    for await (const info of sessionsOf(from)) {
      const { id, changed } = info
      const isChanged = seen.get(id) !== changed
      if (!isWanted(info) || !(isChanged || again.delete(id))) continue
      counts.set(id, await bringIn({ from, to, id, count: counts.get(id) ?? (await countIn(to, id)) }))
      seen.set(id, changed)
      if (isChanged) again.add(id)
    }
  }
}

async function* sessionsOf(store: SessionStore): AsyncGenerator<SessionInfo> {
  let page = await store.list()
  while (page.length > 0) {
    yield* page
    page = await store.list({ after: page.at(-1)?.id ?? '' })
  }
}

async function countIn(store: SessionStore, id: string): Promise<number> {
  let count = 0
  for await (const _ of store.records(id)) count++
  return count
}

type Copy = { readonly from: SessionStore; readonly to: SessionStore; readonly id: string; readonly count: number }

/** `count`: number of records in the copy. Returns the new number. */
async function bringIn({ from, to, id, count }: Copy): Promise<number> {
  if (count === 0) {
    await copySessions({ from, to, sessions: [id] })
    return countIn(to, id)
  }
  const added: StoredRecord[] = []
  let at = 0
  for await (const record of from.records(id)) if (at++ >= count) added.push(record)
  if (added.length === 0) return count
  const opened = await to.open(id, { as: 'existing', owner: 'everlong view', isCopy: true })
  if (opened.type !== 'opened') return count
  const appended = await opened.session.append(added, opened.session.version)
  await opened.session.release()
  return appended.type === 'stored' ? count + added.length : count
}
