// A session store that encrypts records before they reach it. Its index cannot search them, so searches read and decrypt the
// records of a session.
import { recallIn } from 'everlong/internal/node'
import type { HeldSession, SessionStore, StoredRecord } from 'everlong/stores'
import type { Cipher } from './cipher.ts'

type Entry = HeldSession['entries'][number]

export function encryptedSessions(store: SessionStore, { seal, open }: Cipher): SessionStore {
  const openEntry = ({ record, position }: Entry): Entry => ({ record: open(record), position })
  const sealRecord = ({ id, record }: StoredRecord): StoredRecord => ({ id, record: seal(record) })
  // An index over encrypted records finds nothing.
  const { search: _, ...rest } = store
  return {
    ...rest,
    open: async (id, options) => {
      const result = await store.open(id, { ...options, isAppendOnly: true })
      if (result.type !== 'opened') return result
      const { appendNow: _now, ...session } = result.session
      const all = async () => (await session.all()).map(openEntry)
      const held: HeldSession = {
        ...{ ...session, all },
        append: (records, expected) => session.append(records.map(sealRecord), expected),
        ...recallIn(all),
      }
      // A caller that only appends needs just the ids, which are readable.
      if (options.isAppendOnly) return { type: 'opened', session: held }
      try {
        return { type: 'opened', session: { ...held, entries: await all(), isWhole: true } }
      } catch (error) {
        await session.release()
        throw error
      }
    },
    records: async function* (id) {
      for await (const { id: own, record } of store.records(id)) yield { id: own, record: open(record) }
    },
  }
}
