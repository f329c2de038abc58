// The engine on Node: opens sessions on disk or starts them in memory, and gives each what it needs. What a session does is
// in core/session.

import type { CompactRungOptions } from './core/ladder/compact-rung.ts'
import { withEconomy } from './core/ladder/economy.ts'
import type { Ladder } from './core/ladder/ladder.ts'
import { defined, type JsonObject, stringAt } from './core/message/json.ts'
import type { Emit, EngineEvent } from './core/ports/events.ts'
import type { FileStore } from './core/ports/files.ts'
import { createGuard } from './core/ports/guarded.ts'
import { guardedHooks, guardedWorkspace } from './core/ports/guarded-ports.ts'
import { type HookCall, type Hooks, noHooks } from './core/ports/hooks.ts'
import { createListeners } from './core/ports/listeners.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { CompactionPorts } from './core/ports/ports.ts'
import { memoryStore, type Store } from './core/ports/store.ts'
import type { Workspace } from './core/ports/workspace.ts'
import { type CleanUp, hooksInto } from './core/session/callbacks.ts'
import { createConversation } from './core/session/conversation.ts'
import { type Learned, nothingLearned, type RequestBase } from './core/session/gauge.ts'
import { leftInQueue } from './core/session/queue.ts'
import { type Recalled, readFrom, recallFrom } from './core/session/recall.ts'
import type { HostState } from './core/session/restoring.ts'
import { type Ask, createRuntime, type Runtime } from './core/session/runtime.ts'
import { createSession } from './core/session/session.ts'
import type { Session } from './core/session/session-types.ts'
import { type EngineSettings, withEnvironment } from './core/session/settings.ts'
import type { Environment } from './core/tokens/settings.ts'
import type { Entry } from './core/transcript/format/entry.ts'
import { systemPorts } from './models/ports.ts'
import type { Archive } from './node/archive/archive.ts'
import { type HookChoices, type HookedSession, hooksFor } from './node/hooks/for-session.ts'
import { subagentPath } from './node/read/subagents.ts'
import { openSessionFile } from './node/session/session-file.ts'
import { workspaceFor } from './node/session/session-files.ts'
import { keepingResults } from './node/write/keep-results.ts'
import { sessionParts } from './session-parts.ts'

export type EngineOptions = {
  readonly model: ModelClient
  readonly settings?: EngineSettings
  readonly hooks?: Hooks
  /** Functions and shell commands in the form of settings files; where `hooks` is not given. */
  readonly hookSettings?: HookChoices
  /** Files of the workspace, for restoring: those below the working directory unless said. */
  readonly files?: FileStore
  /**
   * What a compaction asks for the current state of the work. Unless said: git in the session's folder, or nothing when
   * `files` are the host's own or the session was recorded in another folder.
   */
  readonly workspace?: Workspace
  /** How summaries are made, and what is put back after them. */
  readonly compaction?: CompactRungOptions
  /** Rungs in place of the usual ones, by trigger; as a function it gets those, which know the session's notes and files. */
  readonly ladder?: Partial<Ladder> | ((usual: Ladder) => Partial<Ladder>)
  /** Ask mode: whether a compaction may run now. */
  readonly ask?: Ask
  readonly environment?: Environment
  readonly onEvent?: (event: EngineEvent) => void
  readonly ports?: Partial<Pick<CompactionPorts, 'now' | 'newId' | 'wait'>>
}

export type SessionOptions = RequestBase & {
  /** Another than the client's own. */
  readonly model?: string
  /** What is put on each record besides: cwd, version, gitBranch … */
  readonly envelope?: JsonObject
  /** What the host knows of the session besides the conversation: put back after a compaction. */
  readonly state?: HostState
  /** Who writes, for whoever finds the session taken. */
  readonly owner?: string
  /** When somebody else writes this session: refuse (the default), or go on in a copy of it. */
  readonly ifHeld?: 'refuse' | 'fork'
}

export type EngineSession = Session & {
  /** Searches everything that was ever said, also what has left the context. */
  readonly recall: (words: string, options?: { readonly limit?: number }) => Promise<Recalled>
  /** An original by the id that recall gave, an entry's uuid, or a tool use id (its result); undefined when none has it. */
  readonly read: (id: string) => Promise<string | undefined>
  /** A conversation of its own: its own window, state and breaker; its file lies in this session's folder. */
  readonly subagent: (options?: SessionOptions) => Promise<EngineSession>
}

export type Engine = {
  readonly model: ModelClient
  /** Continues a session on disk. Throws an Error that says why when there is none, or it cannot be opened. */
  readonly open: (path: string, options?: SessionOptions) => Promise<EngineSession>
  /** A new session: in memory unless it gets a path, where no file may be yet. */
  readonly start: (options?: SessionOptions & { readonly path?: string }) => Promise<EngineSession>
}

export function createEngine(options: EngineOptions): Engine {
  const shared: Shared = { options, learned: nothingLearned(), ports: portsOf(options), cleanUps: new Set() }
  return {
    model: options.model,
    open: (path, session = {}) => onDisk(shared, { path, file: 'existing' }, session),
    start: ({ path, ...session } = {}) => {
      if (path !== undefined) return onDisk(shared, { path, file: 'new' }, session)
      return sessionOn(shared, { store: memoryStore(), entries: [], id: shared.ports.newId() }, session)
    },
  }
}

/** A sub-agent's file carries the id of the session it belongs to. */
type OpenOptions = SessionOptions & { readonly id?: string }

/** What all sessions of an engine have in common. */
type Shared = {
  readonly options: EngineOptions
  readonly learned: Learned
  readonly ports: Ports
  readonly cleanUps: Set<CleanUp>
}

/** Where a session is stored, and what was there when it was opened. */
type Stored = {
  readonly store: Store
  readonly entries: readonly Entry[]
  /** Whether those are all entries. */
  readonly isWhole?: boolean
  readonly id: string
}

type Ports = Pick<CompactionPorts, 'now' | 'newId' | 'wait'>

function portsOf({ ports }: EngineOptions): Ports {
  return { now: () => Date.now(), newId: () => crypto.randomUUID(), wait: systemPorts.wait, ...ports }
}

async function onDisk(
  shared: Shared,
  { path, file }: { readonly path: string; readonly file: 'new' | 'existing' },
  session: OpenOptions,
): Promise<EngineSession> {
  const { owner = 'everlong', ifHeld } = session
  const opened = await openSessionFile(path, { file, owner, ...defined({ ifHeld }) })
  if (opened.type === 'failed') throw new Error(opened.why)
  const { store, entries, isWhole, sessionId } = opened
  const { id = sessionId, ...options } = session
  return sessionOn(shared, { store, entries, isWhole, id }, options)
}

async function sessionOn(shared: Shared, stored: Stored, options: SessionOptions): Promise<EngineSession> {
  const session = sessionOrClosed(shared, stored, options)
  await session.runHooks(startOf(session, stored))
  return Object.assign(session, {
    recall: (words: string, { limit = 10 } = {}) => recall(stored.store, words, limit),
    read: (id: string) => readById(stored.store, id),
    subagent: (own: SessionOptions = {}) => startSubagent(shared, stored, { ...options, ...own }),
  })
}

/** Releases the store when the settings cannot work. */
function sessionOrClosed(shared: Shared, stored: Stored, options: SessionOptions): Session {
  const { id, store } = stored
  const { onEvent } = shared.options
  const agentId = stringAt(options.envelope, 'agentId')
  const listeners = createListeners(onEvent ? [onEvent] : [], { sessionId: id, ...defined({ agentId }) })
  try {
    const runtime = runtimeFor(shared, stored, { options, emit: listeners.emit })
    const close = closing(() => session.runHooks(endOf(agentId)), store)
    const queued = leftInQueue(stored.entries)
    const session: Session = createSession({ id, path: store.path, agentId, runtime, listeners, queued, close })
    return session
  } catch (error) {
    store.close()
    throw error
  }
}

/** Runs the hooks once, even if the session is closed twice. */
function closing(runHooks: () => Promise<unknown>, store: Store): () => Promise<void> {
  let isClosed = false
  return async () => {
    try {
      if (!isClosed) await runHooks()
    } finally {
      isClosed = true
      store.close()
    }
  }
}

function endOf(agentId: string | undefined): HookCall {
  if (agentId !== undefined) return { event: 'SubagentStop', details: { agent_id: agentId } }
  return { event: 'SessionEnd', details: { reason: 'other' } }
}

function startOf({ agentId }: Session, { entries }: Stored): HookCall {
  if (agentId !== undefined) return { event: 'SubagentStart', details: { agent_id: agentId } }
  return { event: 'SessionStart', source: entries.length > 0 ? 'resume' : 'startup' }
}

function runtimeFor(
  { options: engine, learned, ports, cleanUps }: Shared,
  stored: Stored,
  { options, emit }: { readonly options: SessionOptions; readonly emit: Emit },
): Runtime {
  const { environment = process.env, ladder, model: client, ask, compaction, files } = engine
  const { model: name = client.model, envelope, owner: _, ifHeld: __, state: host, ...base } = options
  const settings = settingsOf(engine, environment)
  const cwd = stringAt(envelope, 'cwd') ?? process.cwd()
  const isSubagent = envelope?.isSidechain === true
  const guard = createGuard({ emit, wait: ports.wait })
  const workspace = engine.workspace
    ? guardedWorkspace(engine.workspace, guard)
    : workspaceFor({ given: files, entries: stored.entries, cwd, isNamed: cwd === stringAt(envelope, 'cwd') })
  const parts = sessionParts({ ...stored, cwd, settings, compaction, files, host, guard, shared: cleanUps, isSubagent })
  const written = createConversation({
    ...stored,
    sessionId: stored.id,
    envelope: { userType: 'external', cwd, ...envelope },
    now: ports.now,
    newId: ports.newId,
    watch: parts.watch,
  })
  const { path } = stored.store
  const notStored = (reason: string) => emit({ type: 'results-not-stored', reason })
  const conversation = path === undefined ? written : keepingResults(written, path, notStored)
  const { ladder: defaults } = parts
  const hooks = hooksInto(conversation, hooksIn(engine, ports, { id: stored.id, path, cwd }))
  return createRuntime({
    conversation,
    settings,
    environment,
    ladder: { ...defaults, ...(typeof ladder === 'function' ? ladder(defaults) : ladder) },
    ports: { ...ports, emit, hooks, files: parts.files, workspace },
    restore: parts.restoreFor(conversation),
    guard,
    ask,
    learned,
    model: { client, name },
    base,
    cleanUps: parts.cleanUps,
    background: parts.background,
    memoryState: parts.memoryState,
  })
}

/** How far a compaction must get can be said in either place; the engine's own setting comes first. */
function settingsOf({ settings = {}, compaction }: EngineOptions, environment: Environment): EngineSettings {
  const target = settings.target ?? compaction?.settings?.targetShare
  return withEnvironment(withEconomy(target === undefined ? settings : { ...settings, target }), environment)
}

function hooksIn({ hooks, hookSettings }: EngineOptions, { wait }: Ports, session: HookedSession): Hooks {
  if (hooks) return guardedHooks(hooks, { wait })
  return hookSettings ? hooksFor(hookSettings, session) : noHooks
}

async function startSubagent(shared: Shared, parent: Stored, options: SessionOptions): Promise<EngineSession> {
  const agentId = shared.ports.newId()
  const own = { ...options, envelope: { ...options.envelope, isSidechain: true, agentId } }
  const { path } = parent.store
  if (path !== undefined) {
    return onDisk(shared, { path: subagentPath(path, agentId), file: 'new' }, { ...own, id: parent.id })
  }
  return sessionOn(shared, { store: memoryStore(), entries: [], id: parent.id }, own)
}

async function recall({ path, entries }: Store, words: string, limit: number): Promise<Recalled> {
  if (path === undefined) return recallFrom(entries(), words, limit)
  return withArchive(path, (archive) => archive.search({ words, limit }))
}

async function readById({ path, entries }: Store, id: string): Promise<string | undefined> {
  if (path === undefined) return readFrom(entries(), id)
  return withArchive(path, (archive) => archive.read(id)?.text)
}

async function withArchive<T>(path: string, use: (archive: Archive) => T): Promise<T> {
  // Loaded when it is wanted: not every host has a use for the database behind it.
  const { openArchive } = await import('./node/archive/archive.ts')
  const archive = openArchive(path)
  try {
    return use(archive)
  } finally {
    archive.close()
  }
}
