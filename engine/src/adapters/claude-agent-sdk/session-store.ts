// A SessionStore of the Claude Agent SDK on any session store of Everlong: only appends, stores no uuid twice, and returns every
// entry unchanged. A session is held only during a call, so any process can write it next.
import type { JsonObject } from '../../core/message/json.ts'
import {
  type HeldSession,
  type OpenOptions,
  reasonOf,
  type SessionInfo,
  type SessionStore,
  StoreError,
  subagentId,
} from '../../core/ports/session-store.ts'
import { createMutex } from '../../core/session/queue.ts'
import { hashText } from '../../core/text/hash.ts'
import type { AgentEntry, AgentSessionKey, AgentSessionStore, AgentSummary, FoldSummary } from './types.ts'

export type AgentStoreOptions = {
  readonly store: SessionStore
  readonly newId: () => string
  /** Takes a session for writing, or a new one if there is none. Waits while another process has it. */
  readonly open: (id: string, how: Pick<OpenOptions, 'owner' | 'parent' | 'isCopy'>) => Promise<HeldSession>
  readonly fold?: FoldSummary | undefined
}

/** Prefix of Everlong's own records, which the SDK does not list. */
export const ownSubpath = 'everlong/'

const owner = 'the Claude Agent SDK'

/** Number of sessions whose uuids are remembered. */
const maxKnown = 1_000

export function agentSessionStore({ store, newId, open, fold }: AgentStoreOptions): AgentSessionStore {
  const inTurn = turnsById()
  /** The uuids of a session at a version, to avoid reading them again for every batch. */
  const known = new Map<string, { readonly version: number; readonly uuids: Set<string> }>()

  const addTo = async (session: HeldSession, entries: readonly AgentEntry[]): Promise<void> => {
    const before = known.get(session.id)
    const uuids = before?.version === session.version ? before.uuids : new Set(uuidsIn(await session.all()))
    const added = new Set<string>()
    const fresh = entries.filter(({ uuid }) => {
      if (uuid === undefined) return true
      const isNew = !uuids.has(uuid) && !added.has(uuid)
      added.add(uuid)
      return isNew
    })
    if (fresh.length === 0) return
    const records = fresh.map((record) => ({ id: record.uuid ?? newId(), record: record as JsonObject }))
    const appended = await session.append(records, session.version)
    if (appended.type !== 'stored') throw new StoreError(appended.why, { reason: reasonOf(appended) })
    for (const uuid of added) uuids.add(uuid)
    known.delete(session.id)
    known.set(session.id, { version: appended.version, uuids })
    const [oldest] = known.keys()
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest)
  }
  const sessionsOf = async (projectKey: string) => {
    const first = storedId({ projectKey, sessionId: '' })
    return (await allWithPrefix(store, first)).flatMap((info) => {
      const sessionId = sessionIn(info.id, projectKey)
      return sessionId === undefined ? [] : [{ sessionId, mtime: Date.parse(info.changed) }]
    })
  }
  return {
    append: (key, entries) =>
      inTurn(storedId(key), async () => {
        const { projectKey, sessionId, subpath } = key
        const parent = subpath === undefined ? undefined : storedId({ projectKey, sessionId })
        const session = await open(storedId(key), { owner, parent, isCopy: true })
        try {
          await addTo(session, entries)
        } finally {
          await session.release()
        }
      }),
    load: async (key) => {
      const entries = await entriesIn(store, key)
      return entries.length === 0 ? null : entries
    },
    listSessions: sessionsOf,
    ...(fold ? { listSessionSummaries: summaries(store, fold, sessionsOf) } : {}),
    delete: async (key) => {
      await store.erase({ sessions: [storedId(key)] })
    },
    listSubkeys: async ({ projectKey, sessionId }) => {
      const prefix = subkeyPrefix(storedId({ projectKey, sessionId }))
      const subpaths = (await allWithPrefix(store, prefix)).flatMap(
        ({ id }) => subpathOf(id.slice(prefix.length)) ?? [],
      )
      return subpaths.filter((subpath) => !subpath.startsWith(ownSubpath))
    },
  }
}

/** Calls about one session take turns. Calls about others do not wait for them. */
function turnsById(): <T>(id: string, work: () => Promise<T>) => Promise<T> {
  const turns = new Map<string, ReturnType<typeof createMutex>>()
  return (id, work) => {
    const own = turns.get(id) ?? createMutex(() => undefined)
    turns.set(id, own)
    return own.run(work).finally(() => {
      if (!own.isBusy()) turns.delete(id)
    })
  }
}

/** All sessions whose id has this prefix. Stores list by id. */
async function allWithPrefix(store: SessionStore, prefix: string): Promise<readonly SessionInfo[]> {
  const found: SessionInfo[] = []
  for (let after = prefix; ; ) {
    const page = await store.list({ after })
    const own = page.filter(({ id }) => id.startsWith(prefix))
    found.push(...own)
    const last = page.at(-1)
    if (last === undefined || own.length < page.length) return found
    after = last.id
  }
}

type Listed = (projectKey: string) => Promise<{ sessionId: string; mtime: number }[]>

/** Folded once per version of a session. */
function summaries(store: SessionStore, fold: FoldSummary, sessionsOf: Listed) {
  const folded = new Map<string, AgentSummary>()
  return async (projectKey: string): Promise<AgentSummary[]> => {
    const all: AgentSummary[] = []
    for (const { sessionId, mtime } of await sessionsOf(projectKey)) {
      const key = { projectKey, sessionId }
      const id = storedId(key)
      const before = folded.get(id)
      const summary = before?.mtime === mtime ? before : fold(undefined, key, await entriesIn(store, key))
      folded.set(id, { ...summary, mtime })
      all.push({ ...summary, mtime })
    }
    return all
  }
}

async function entriesIn(store: SessionStore, key: AgentSessionKey): Promise<AgentEntry[]> {
  const entries: AgentEntry[] = []
  for await (const { record } of store.records(storedId(key))) entries.push(record as AgentEntry)
  return entries
}

function uuidsIn(entries: readonly { readonly record: JsonObject }[]): readonly string[] {
  return entries.flatMap(({ record: { uuid } }) => (typeof uuid === 'string' ? [uuid] : []))
}

// Sessions are stored as PROJECT.SESSION, and their parts as PROJECT.SESSION/subagents/NAME. Every store on disk accepts these
// names.

/** The prefix of everything in a project. */
function projectPrefix(projectKey: string): string {
  const readable = projectKey.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')
  return `${readable.slice(-40).replace(/^-/, '') || 'project'}-${hashText(projectKey)}.`
}

export function storedId({ projectKey, sessionId, subpath }: AgentSessionKey): string {
  const id = `${projectPrefix(projectKey)}${escaped(sessionId)}`
  return subpath === undefined ? id : `${subkeyPrefix(id)}${nameOf(subpath)}`
}

function subkeyPrefix(id: string): string {
  return subagentId(id, '')
}

/** Undefined for ids of other projects, of sub-agents, and of sessions that did not come from the SDK. */
function sessionIn(id: string, projectKey: string): string | undefined {
  const prefix = projectPrefix(projectKey)
  return id.startsWith(prefix) && !id.includes('/') ? unescaped(id.slice(prefix.length)) : undefined
}

const folder = 'subagents/'
const other = 'x-'

/** Sub-agents are stored like Everlong's own; other paths get a mark. */
function nameOf(subpath: string): string {
  const rest = subpath.startsWith(folder) ? subpath.slice(folder.length) : ''
  return /^[A-Za-z0-9]/.test(rest) && !rest.startsWith(other) ? escaped(rest) : `${other}${escaped(subpath)}`
}

/** Undefined for a sub-agent that did not come from the SDK. */
function subpathOf(name: string): string | undefined {
  if (name.startsWith(other)) return unescaped(name.slice(other.length))
  const rest = unescaped(name)
  return rest === undefined ? undefined : `${folder}${rest}`
}

/** Reversible: characters other than letters, digits, "." and "-" become their bytes, and so does the dot of ".jsonl". */
function escaped(text: string): string {
  return encodeURIComponent(text)
    .replaceAll(/[^A-Za-z0-9.%-]|\.(?=jsonl)/gi, hex)
    .replaceAll('%', '_')
}

function hex(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

/** Undefined for what `escaped` never returns. */
function unescaped(name: string): string | undefined {
  try {
    const text = decodeURIComponent(name.replaceAll('_', '%'))
    return escaped(text) === name ? text : undefined
  } catch {
    return undefined
  }
}
