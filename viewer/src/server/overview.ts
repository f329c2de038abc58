// The list of sessions. Facts about each are read in the background, newest session first; a session that changed is read again.
import type { Overview, SessionRow } from '../data/api.ts'
import type { FactsOrTrouble } from './library.ts'
import type { Thread } from './threads.ts'

export type OverviewBook = {
  readonly overview: () => Promise<Overview>
  /** Calls `listen` whenever more is known. Returns a function that stops it. */
  readonly onChange: (listen: () => void) => () => void
  readonly stop: () => void
}

export function createOverview(paths: readonly string[], thread: Thread): OverviewBook {
  const known = new Map<string, FactsOrTrouble & { readonly stamp: string }>()
  const listeners = new Set<() => void>()
  let rows: readonly SessionRow[] = []
  let isReading = false
  let isStopped = false
  const stampOf = ({ bytes, modified }: SessionRow) => `${bytes} ${modified}`
  const isKnown = (row: SessionRow) => row.trouble !== null || known.get(row.id)?.stamp === stampOf(row)
  const readAll = async () => {
    if (isReading) return
    isReading = true
    for (let next = rows.find((row) => !isKnown(row)); next && !isStopped; next = rows.find((row) => !isKnown(row))) {
      const json = await thread.ask({ type: 'facts', session: next.id })
      known.set(next.id, { ...(JSON.parse(json ?? '{}') as FactsOrTrouble), stamp: stampOf(next) })
      for (const listen of listeners) listen()
    }
    isReading = false
  }
  return {
    overview: async () => {
      rows = JSON.parse((await thread.ask({ type: 'rows' })) ?? '[]') as readonly SessionRow[]
      // The reader ends when the server does.
      readAll().catch(() => {
        isReading = false
      })
      const sessions = rows.map((row) => {
        const { facts, trouble } = known.get(row.id) ?? row
        return { ...row, facts, trouble: trouble ?? row.trouble }
      })
      return { paths, sessions, read: rows.filter(isKnown).length }
    },
    onChange: (listen) => {
      listeners.add(listen)
      return () => listeners.delete(listen)
    },
    stop: () => {
      isStopped = true
    },
  }
}
