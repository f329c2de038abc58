// Removes data older than the configuration allows, tenant by tenant: sessions with all their data, and rows of the books.
import type { SessionInfo, SessionStore } from 'everlong/stores'
import type { Config } from './config/schema.ts'
import { plainId } from './identify/client-ids.ts'
import type { Stores } from './stores.ts'

export type Removed = { readonly tenant: string; readonly sessions: number; readonly rows: number }

type Keeping = Pick<Stores, 'storeOf' | 'managedStoreOf' | 'state'>

const dayMs = 86_400_000

/** Returns the tenants whose data was removed. */
export async function removeOld(
  stores: Keeping,
  { retention, keys }: Pick<Config, 'retention' | 'keys'>,
  now: number,
): Promise<readonly Removed[]> {
  const configured = [...Object.keys(retention.tenants), ...keys.map(({ tenant }) => tenant), 'default']
  const tenants = [...new Set([...configured, ...(await stores.state.tenants())])].toSorted()
  const removed: Removed[] = []
  for (const tenant of tenants) {
    const { sessionDays, bookDays } = { ...retention, ...retention.tenants[tenant] }
    const sessions = sessionDays === undefined ? 0 : await removeSessions(stores, { tenant, sessionDays, now })
    const rows = bookDays === undefined ? 0 : await stores.state.expire({ tenant, before: now - bookDays * dayMs })
    if (sessions + rows > 0) removed.push({ tenant, sessions, rows })
  }
  return removed
}

type RetentionInput = { readonly tenant: string; readonly sessionDays: number; readonly now: number }

async function removeSessions(
  { storeOf, managedStoreOf, state }: Keeping,
  { tenant, sessionDays, now }: RetentionInput,
) {
  const store = storeOf(tenant)
  const limit = new Date(now - sessionDays * dayMs).toISOString()
  const old = (await sessionsIn(store)).filter(({ changed }) => changed < limit)
  if (old.length === 0) return 0
  // Sessions in use are spared, so the remaining ones are listed again.
  const count = await store.erase({ unchangedForDays: sessionDays })
  const left = new Set((await sessionsIn(store)).map(({ id }) => id))
  const gone = old.map(({ id }) => id).filter((id) => !left.has(id))
  await managedStoreOf(tenant).erase({ sessions: gone.map(plainId) })
  await state.forget(tenant, gone)
  return count
}

/** All of them, page by page. */
export async function sessionsIn(store: SessionStore, user?: string): Promise<readonly SessionInfo[]> {
  const all: SessionInfo[] = []
  const whose = user === undefined ? {} : { user }
  for (let after = ''; ; ) {
    const page = await store.list({ after, limit: 1_000, ...whose })
    all.push(...page)
    const last = page.at(-1)
    if (page.length < 1_000 || !last) return all
    after = last.id
  }
}
