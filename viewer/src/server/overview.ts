// The list of sessions. Facts about each are read in the background, newest session first; a session that changed is read again.
// Every change gets a version, so that a page asks only for what is new to it.
import type { Overview, SessionRow } from '../data/api.ts'
import type { FactsOrTrouble } from './library.ts'
import type { Thread } from './threads.ts'

export type OverviewBook = {
  /** What changed after this version; 0 means everything. */
  readonly overview: (since: number) => Promise<Overview>
  /** Calls `listen` whenever more is known. Returns a function that stops it. */
  readonly onChange: (listen: () => void) => () => void
  readonly stop: () => void
}

/** While a page shows the list, it is looked at again this often for new, changed and removed sessions. */
const lookAgainMs = 3_000

type Known = {
  readonly row: SessionRow
  readonly stamp: string
  readonly isRead: boolean
  readonly version: number
}

export function createOverview(paths: readonly string[], thread: Thread): OverviewBook {
  const book = createBook()
  const listeners = new Set<() => void>()
  let isReading = false
  let isStopped = false
  let isFirst = true
  const notifyListeners = () => {
    for (const listen of listeners) listen()
  }
  const readAll = async () => {
    if (isReading) return
    isReading = true
    for (let next = book.nextUnread(); next && !isStopped; next = book.nextUnread()) {
      const json = await thread.ask({ type: 'facts', session: next.row.id })
      book.setFacts(next, JSON.parse(json ?? '{}') as FactsOrTrouble)
      notifyListeners()
    }
    isReading = false
  }
  const look = async () => {
    const before = book.version()
    book.setRows(JSON.parse((await thread.ask({ type: 'rows' })) ?? '[]') as readonly SessionRow[])
    if (book.version() > before) notifyListeners()
    // The reader ends when the server does.
    readAll().catch(() => {
      isReading = false
    })
  }
  const timer = setInterval(() => {
    if (listeners.size > 0 && !isReading) look().catch(() => undefined)
  }, lookAgainMs).unref()
  return {
    overview: async (since) => {
      if (isFirst || !isReading) await look()
      isFirst = false
      return { paths, ...book.changesSince(since) }
    },
    onChange: (listen) => {
      listeners.add(listen)
      return () => listeners.delete(listen)
    },
    stop: () => {
      isStopped = true
      clearInterval(timer)
    },
  }
}

function createBook() {
  const known = new Map<string, Known>()
  const gone = new Map<string, number>()
  let unread: string[] = []
  let version = 0
  const setRow = (row: SessionRow) => {
    const stamp = `${row.bytes} ${row.modified} ${row.trouble ?? ''}`
    const before = known.get(row.id)
    if (before?.stamp === stamp) return
    gone.delete(row.id)
    // What was known before stays until it is read again.
    const facts = before?.row.facts ?? null
    known.set(row.id, { row: { ...row, facts }, stamp, isRead: row.trouble !== null, version: ++version })
  }
  return {
    version: () => version,
    /** `rows` are all there are, newest first. */
    setRows: (rows: readonly SessionRow[]) => {
      const ids = new Set(rows.map(({ id }) => id))
      for (const id of known.keys()) {
        if (ids.has(id)) continue
        known.delete(id)
        gone.set(id, ++version)
      }
      rows.forEach(setRow)
      unread = rows.flatMap(({ id }) => (known.get(id)?.isRead ? [] : [id])).toReversed()
    },
    nextUnread: (): Known | undefined => {
      for (let id = unread.pop(); id !== undefined; id = unread.pop()) {
        const next = known.get(id)
        if (next && !next.isRead) return next
      }
      return undefined
    },
    setFacts: ({ row: { id }, stamp }: Known, { facts, trouble }: FactsOrTrouble) => {
      const now = known.get(id)
      if (!now) return
      // If the file changed meanwhile, it stays unread.
      const isRead = now.stamp === stamp
      known.set(id, { ...now, row: { ...now.row, facts, trouble }, isRead, version: ++version })
    },
    changesSince: (since: number): Omit<Overview, 'paths'> => {
      const all = [...known.values()]
      return {
        version,
        sessions: all.filter((one) => one.version > since).map(({ row }) => row),
        gone: [...gone].flatMap(([id, at]) => (at > since ? [id] : [])),
        total: all.length,
        read: all.filter(({ isRead }) => isRead).length,
      }
    },
  }
}
