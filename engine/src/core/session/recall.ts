// Search in a session, for stores without an index and for messages that are still queued.
import type { HeldSession } from '../ports/session-store.ts'
import type { Entry } from '../transcript/format/entry.ts'

/** Results of a search, unless the caller sets a limit. */
export const defaultRecallLimit = 10

export type Recall = Pick<HeldSession, 'recall' | 'read'>

/** Recall without an index: every search reads all entries. Its code is loaded by the first one. */
export function recallIn(entries: () => Iterable<Entry> | Promise<Iterable<Entry>>): Recall {
  const load = () => import('./recall-entries.ts')
  return {
    recall: async (words, limit) => (await load()).recallFrom(await entries(), words, limit),
    read: async (id) => (await load()).readFrom(await entries(), id),
  }
}

/** Also finds messages that are queued, in every store: they are the newest, and no store has them as messages yet. */
export function withQueued({ recall, read }: Recall, queued: () => readonly Entry[]): Recall {
  const inQueue = recallIn(queued)
  return {
    recall: async (words, limit) => {
      const first = await inQueue.recall(words, limit)
      const then = await recall(words, limit)
      // One that left the queue in the meantime is in both.
      const ids = new Set(first.matches.map(({ id }) => id))
      const all = [...first.matches, ...then.matches.filter(({ id }) => !ids.has(id))]
      return { matches: all.slice(0, limit), more: first.more || then.more || all.length > limit }
    },
    read: async (id) => (await inQueue.read(id)) ?? read(id),
  }
}
