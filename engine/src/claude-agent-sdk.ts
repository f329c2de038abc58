// everlong/claude-agent-sdk: sessions of the Claude Agent SDK in any store of Everlong, compacted by Everlong between two
// queries; hooks for the SDK's own compactions, and recall. Types of the SDK are described, not imported.
import { type AdapterSessions, withClose } from './adapter-sessions.ts'
import { agentHooks } from './adapters/claude-agent-sdk/hooks.ts'
import {
  type AgentRecallTool,
  agentRecallTool,
  originalEntry,
  originalsOf,
} from './adapters/claude-agent-sdk/recall.ts'
import { agentSessionStore, storedId } from './adapters/claude-agent-sdk/session-store.ts'
import type {
  AgentEntry,
  AgentHooks,
  AgentSessionKey,
  AgentSessionStore,
  FoldSummary,
  HookInput,
} from './adapters/claude-agent-sdk/types.ts'
import { defined, type JsonObject } from './core/message/json.ts'
import type { Compacted, Failed } from './core/ports/outcome.ts'
import { type SessionStore, StoreError } from './core/ports/session-store.ts'
import type { Session } from './core/session/session-api.ts'
import { heldSession } from './core/session/stored-session.ts'
import type { EngineSettings } from './core/settings/table.ts'
import { createEngine, type Engine, type EngineOptions } from './engine.ts'
import { systemPorts } from './models/ports.ts'
import { leftOutBy, rulesText } from './node/after-compaction.ts'
import { readLedger } from './node/read/ledger-file.ts'
import { memorySessions } from './stores/memory.ts'

export type ClaudeAgentOptions = EngineOptions & {
  /** Keeps the sessions. Default: memory. */
  readonly store?: SessionStore
  /** The one of everlong/node adds files, git and notes on disk. Default: the one of everlong. */
  readonly createEngine?: (options: EngineOptions & { readonly store?: SessionStore }) => Engine
  /** The user of new sessions, for erasure. */
  readonly user?: string
  /**
   * The SDK's key for the project of your queries. Default: the key of a session that this process has stored or loaded,
   * otherwise of the working directory.
   */
  readonly projectKey?: string
  /** What to do if the SDK wants to compact by itself: allow it (the default), or refuse and compact before resuming. */
  readonly ownCompaction?: 'allow' | 'block'
  /** Maximum characters of a text in a tool result. Longer ones are shortened. Default: 60,000. */
  readonly maxResultLength?: number
  /** `foldSessionSummary` of the SDK, for its lists of sessions. */
  readonly foldSessionSummary?: FoldSummary
}

type CompactOptions = { readonly instructions?: string; readonly signal?: AbortSignal }

export type ClaudeAgent = Omit<AdapterSessions, 'session'> & {
  /** For `options.sessionStore` of a query. */
  readonly sessionStore: AgentSessionStore
  /** For `options.hooks` of a query. */
  readonly hooks: AgentHooks
  /**
   * Call it before a query that resumes: compacts the session if its context is nearly full, or if the SDK was not allowed to
   * compact. Undefined if nothing had to be done, or if the session does not exist yet.
   */
  readonly prepare: (sessionId: string | undefined, options?: CompactOptions) => Promise<Compacted | Failed | undefined>
  /** Appends a boundary and a summary. The next query that resumes the session sends these and everything after them. */
  readonly compact: (sessionId: string, options?: CompactOptions) => Promise<Compacted | Failed>
  /** A tool for `createSdkMcpServer`. The session id may be known later. */
  readonly recallTool: (sessionId: () => string | undefined) => AgentRecallTool
  /**
   * Opens a session of the SDK. Close it before the next query, because the SDK cannot write it while it is open. Throws a
   * StoreError with the reason `missing` if there is none.
   */
  readonly session: (sessionId: string) => Promise<Session>
}

const defaultMaxResultLength = 60_000
/** Another process may still be writing. After this time, in milliseconds, the SDK gets an error and tries twice more. */
const waitMs = 10_000
const owner = 'everlong'

export function everlong(options: ClaudeAgentOptions): ClaudeAgent {
  const { store = memorySessions(), user, projectKey, ownCompaction = 'allow', ...rest } = options
  const { maxResultLength = defaultMaxResultLength, foldSessionSummary: fold, ...others } = rest
  const { createEngine: create = createEngine, ...engineOptions } = others
  const engine = create({ ...engineOptions, settings: settingsFor(engineOptions.settings), store })
  const newId = engineOptions.ports?.newId ?? (() => crypto.randomUUID())
  const now = engineOptions.ports?.now ?? (() => Date.now())
  const wait = engineOptions.ports?.wait ?? systemPorts.wait
  const inner = agentSessionStore({
    store,
    newId,
    open: (id, how) => heldSession(store, id, { ...how, as: 'existing-or-new', user, waitMs, now, wait }),
    fold,
  })
  const projects = new Map<string, string>()
  const due = new Set<string>()
  const seen = ({ sessionId, projectKey: project }: AgentSessionKey) => projects.set(sessionId, project)
  const keyOf = (sessionId: string): AgentSessionKey => ({
    sessionId,
    projectKey: projectKey ?? projects.get(sessionId) ?? keyOfFolder(process.cwd()),
  })
  const held = heldSessions((sessionId, known) => {
    const key = keyOf(sessionId)
    const opened = (entries: readonly AgentEntry[]) =>
      engine.open(storedId(key), { owner, waitMs, envelope: envelopeOf(entries) }).catch((error: unknown) => {
        throw error instanceof StoreError && error.reason === 'missing' ? missingSession(key) : error
      })
    return known ? opened(known) : inner.load(key).then((entries) => opened(entries ?? []))
  })
  const keep = async (input: HookInput, original: unknown) => {
    const entry: AgentEntry = originalEntry(input, original, new Date(now()).toISOString())
    await inner.append(originalsOf(keyOf(input.session_id)), [entry])
  }
  return {
    sessionStore: {
      ...inner,
      append: (key, entries) => {
        seen(key)
        return inner.append(key, entries)
      },
      load: (key) => {
        seen(key)
        return inner.load(key)
      },
    },
    hooks: agentHooks({
      rulesIn: (transcript) => rulesText(readLedger(transcript).ledger),
      missingFrom: leftOutBy,
      keep,
      maxResultLength,
      blocks: ownCompaction === 'block',
      onBlocked: (sessionId) => due.add(sessionId),
    }),
    prepare: async (sessionId, how) => {
      const entries = sessionId === undefined ? null : await inner.load(keyOf(sessionId))
      if (sessionId === undefined || entries === null) return undefined
      const own = await held.session(sessionId, entries)
      const isAsked = due.delete(sessionId) || (how?.instructions !== undefined && own.explain().isAboveThreshold)
      return (isAsked ? own.compact(how) : automatic(own, how)).finally(own.close)
    },
    compact: async (sessionId, how) => {
      const own = await held.session(sessionId)
      return own.compact(how).finally(own.close)
    },
    recallTool: (sessionId) =>
      agentRecallTool(store, () => {
        const id = sessionId()
        return id === undefined ? undefined : keyOf(id)
      }),
    ...held,
  }
}

/**
 * The SDK's own request has another system prompt and other tools, so no cache has its beginning. It also sends every message
 * unchanged, so nothing is cleared.
 */
function settingsFor(given: EngineSettings = {}): EngineSettings {
  return {
    ...given,
    summary: { shareCache: false, ...given.summary },
    reductions: { microCompact: false, ...given.reductions },
  }
}

/** Uses the gate and the target of automatic compaction: changes nothing unless the size gets well below the threshold. */
async function automatic(session: Session, { signal }: CompactOptions = {}): Promise<Compacted | Failed | undefined> {
  const { compaction, tried } = await session.prepare({ signal })
  if (compaction) return compaction
  const last = tried.findLast(({ outcome }) => outcome === 'failed')
  return last && { type: 'failed', reason: (last.reason ?? 'no-summary') as Failed['reason'], why: last.why, tried }
}

type Opening = (sessionId: string, known?: readonly AgentEntry[]) => Promise<Session>

/** Open sessions, until they are closed. */
function heldSessions(open: Opening) {
  const held = new Set<Session>()
  const close = async () => {
    for (const own of held) await own.close()
  }
  return {
    session: async (sessionId: string, known?: readonly AgentEntry[]): Promise<Session> => {
      const opened = await open(sessionId, known)
      const own = withClose(opened, () => held.delete(own))
      held.add(own)
      return own
    },
    sessions: () => [...held],
    close,
    [Symbol.asyncDispose]: close,
  }
}

function missingSession({ sessionId, projectKey }: AgentSessionKey): StoreError {
  const why = `The store has no session ${sessionId} of the project ${projectKey}.`
  return new StoreError(`${why} For a session of another folder, pass its projectKey to everlong().`, {
    reason: 'missing',
  })
}

/** New records have the same fields as earlier ones. */
function envelopeOf(entries: readonly AgentEntry[]): JsonObject {
  const { cwd, version, gitBranch, entrypoint }: JsonObject = entries.findLast((entry) => entry.cwd !== undefined) ?? {}
  return defined({ cwd, version, gitBranch, entrypoint }) as JsonObject
}

/** The SDK's key for a path of up to 200 characters. */
function keyOfFolder(folder: string): string {
  const key = folder.replaceAll(/[^A-Za-z0-9]/g, '-')
  if (key.length <= 200) return key
  throw new Error('The path of the working directory is too long for a default: pass projectKey.')
}
