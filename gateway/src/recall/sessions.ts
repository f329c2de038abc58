// Search and read over the sessions of a tenant in any store. The id of a match says in which session it is.
import { type RecallSource, recallIn } from 'everlong/internal/node'
import type { HeldSession, SessionStore } from 'everlong/stores'
import { sessionsIn } from '../retention.ts'

type Entry = HeldSession['entries'][number]

/** Without an index, a search reads this many sessions, most recently changed first. */
const maxSessions = 200

export function recallFrom(store: SessionStore): RecallSource {
  return {
    search: async (words, limit) => {
      const { matches, more } = store.search ? await store.search(words, limit) : await scan(store, words, limit)
      return {
        matches: matches.map(({ session, ...match }) => ({
          ...match,
          id: `${match.toolUseId ?? match.id}@${session}`,
        })),
        more,
      }
    },
    read: async (id) => {
      const [, wanted, session] = /^(.+?)@(.+)$/s.exec(id) ?? []
      if (wanted === undefined || session === undefined) return undefined
      return recallIn(() => entriesOf(store, session)).read(wanted)
    },
  }
}

async function scan(store: SessionStore, words: string, limit: number) {
  const all = (await sessionsIn(store)).toSorted((one, other) => (one.changed < other.changed ? 1 : -1))
  const entries: Entry[] = []
  const sessionOf = new Map<unknown, string>()
  for (const { id } of all.slice(0, maxSessions)) {
    for (const entry of await entriesOf(store, id)) {
      entries.push(entry)
      sessionOf.set(entry.record.uuid, id)
    }
  }
  const { matches, more } = await recallIn(() => entries).recall(words, limit)
  return {
    matches: matches.map((match) => ({ ...match, session: sessionOf.get(match.id) ?? '' })),
    more: more || all.length > maxSessions,
  }
}

async function entriesOf(store: SessionStore, session: string): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  const position = { line: 0, offset: 0, length: 0, nth: 0 }
  for await (const { record } of store.records(session)) entries.push({ record, position })
  return entries
}
