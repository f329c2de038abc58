// Removes a user from a tenant: sessions with their sub-agents and search indexes, the engine's copies of level 3, heads of
// unnamed conversations, notes, and everything in the books that could identify the user. The sums of the books stay.
import { plainId } from './identify/client-ids.ts'
import { sessionsIn } from './retention.ts'
import type { Stores } from './stores.ts'

export type Erased = {
  readonly tenant: string
  readonly user: string
  readonly sessions: number
  /** The engine's copies of level 3. */
  readonly managed: number
  /** Heads of conversations, and notes about sessions. */
  readonly notes: number
  /** Rows of the books that no longer identify anyone. */
  readonly rows: number
}

export async function eraseUser(
  { storeOf, managedStoreOf, state }: Pick<Stores, 'storeOf' | 'managedStoreOf' | 'state'>,
  { tenant, user }: Pick<Erased, 'tenant' | 'user'>,
): Promise<Erased> {
  const stored = (await sessionsIn(storeOf(tenant), user)).map(({ id }) => id)
  // Includes sessions that began before their client named a user.
  const ids = [...new Set([...stored, ...(await state.sessionsOf(tenant, user))])]
  const sessions = await storeOf(tenant).erase({ sessions: ids })
  const managed = await managedStoreOf(tenant).erase({ sessions: ids.map(plainId) })
  const notes = await state.forget(tenant, ids)
  // The rows come last, so that after a failure they still lead to the remaining data.
  const rows = await state.anonymize(tenant, user)
  return { tenant, user, sessions, managed, notes, rows }
}
