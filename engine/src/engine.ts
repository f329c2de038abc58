// The engine: starts sessions and gives each what it needs. It runs anywhere and keeps sessions in memory; node-engine.ts
// adds those on disk. What a session does is in core/session and core/ladder.

import { withEconomy } from './core/ladder/economy.ts'
import type { Ladder } from './core/ladder/ladder.ts'
import { defined, type JsonObject, stringAt } from './core/message/json.ts'
import type { Emit, EngineEvent } from './core/ports/events.ts'
import type { FileStore } from './core/ports/files.ts'
import { createGuard } from './core/ports/guarded.ts'
import { guardedHooks, guardedWorkspace } from './core/ports/guarded-ports.ts'
import type { HookCall, Hooks } from './core/ports/hooks.ts'
import { createListeners } from './core/ports/listeners.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { CompactionPorts } from './core/ports/ports.ts'
import type { Recalled } from './core/ports/recalled.ts'
import type { Restore } from './core/ports/restore.ts'
import type { SessionStore } from './core/ports/session-store.ts'
import type { Store } from './core/ports/store.ts'
import type { Workspace } from './core/ports/workspace.ts'
import { type CleanUp, hooksInto } from './core/session/callbacks.ts'
import { createConversation } from './core/session/conversation.ts'
import { type Learned, nothingLearned } from './core/session/gauge.ts'
import {
  barePlatform,
  type HookedSession,
  inMemory,
  type OpenedSession,
  type Platform,
} from './core/session/platform.ts'
import { leftInQueue } from './core/session/queue.ts'
import { type RequestInput, requestBase } from './core/session/request-input.ts'
import type { HostState } from './core/session/restoring.ts'
import { type Ask, createRuntime, type Runtime } from './core/session/runtime.ts'
import { createSession } from './core/session/session.ts'
import type { Session } from './core/session/session-types.ts'
import { type EngineSettings, withEnvironment } from './core/session/settings.ts'
import type { Environment } from './core/tokens/settings.ts'
import { systemPorts } from './models/ports.ts'
import { sessionParts } from './session-parts.ts'
import { openStored, type StoredSessionOptions } from './stores/opened.ts'

export type EngineOptions = {
  readonly model: ModelClient
  readonly settings?: EngineSettings
  readonly hooks?: Hooks
  /**
   * Files of the workspace, for restoring. Default: what the conversation showed; with everlong/node, those below the
   * working directory.
   */
  readonly files?: FileStore
  /**
   * What a compaction asks for the current state of the work. Default: nothing; with everlong/node, git in the session's
   * folder, unless `files` are the host's own or the session was recorded in another folder.
   */
  readonly workspace?: Workspace
  /** Brings back context after a compaction, in place of the engine's own: files, todos, plan, skills. */
  readonly restore?: Restore
  /** Replaces default mechanisms by trigger. A function gets the defaults, which know the session's notes and files. */
  readonly ladder?: Partial<Ladder> | ((defaults: Ladder) => Partial<Ladder>)
  /** Ask mode: whether a compaction may run now. */
  readonly ask?: Ask
  readonly environment?: Environment
  readonly onEvent?: (event: EngineEvent) => void
  readonly ports?: Partial<Pick<CompactionPorts, 'now' | 'newId' | 'wait'>>
}

export type SessionOptions = RequestInput & {
  /** Another than the client's own. */
  readonly model?: string
  /** Further fields of each record: cwd, version, gitBranch … */
  readonly envelope?: JsonObject
  /** What the host knows of the session besides the conversation: restored after a compaction. */
  readonly state?: HostState
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
  /** A new session in memory. */
  readonly start: (options?: SessionOptions) => Promise<EngineSession>
}

export type StoreSessionOptions = SessionOptions & {
  /** Who writes, for those who find the session held. */
  readonly owner?: string
  /** Whose session it is, for erasure. Only when it is started. */
  readonly user?: string
}

/** An engine whose sessions are in a store, by id. */
export type StoreEngine = Omit<Engine, 'start'> & {
  /** Continues a session. Throws a StoreError, with a `reason`, when there is none or another writer holds it. */
  readonly open: (
    id: string,
    options?: StoreSessionOptions & {
      /** When there is no such session: refuse (the default), or start it. */
      readonly ifMissing?: 'refuse' | 'start'
      /** How long to wait while another writer holds it. Default: 0. */
      readonly waitMs?: number
    },
  ) => Promise<EngineSession>
  /** A new session. Throws a StoreError when there is one with this id. */
  readonly start: (options?: StoreSessionOptions & { readonly id?: string }) => Promise<EngineSession>
}

/**
 * Sessions in memory, in any runtime, or in the store that is given. For sessions on disk use the createEngine of
 * everlong/node.
 */
export function createEngine(options: EngineOptions & { readonly store: SessionStore }): StoreEngine
export function createEngine(options: EngineOptions): Engine
export function createEngine({
  store,
  ...options
}: EngineOptions & { readonly store?: SessionStore }): Engine | StoreEngine {
  const engine = createEngineOn(barePlatform(globalThis.process?.env ?? {}), options)
  return store ? engineOnStore(engine, store) : { model: engine.model, start: engine.start }
}

/** `complete` adds what the platform keeps next to a session. */
export function engineOnStore(
  { model, run, ports }: EngineOn,
  store: SessionStore,
  complete: (opened: OpenedSession) => OpenedSession = (opened) => opened,
): StoreEngine {
  const opened = async (id: string, how: Omit<StoredSessionOptions, keyof Ports>, options: SessionOptions) =>
    run(complete(await openStored(store, id, { ...how, ...ports })), options)
  return {
    model,
    open: (id, { owner, user, ifMissing, waitMs, ...options } = {}) =>
      opened(id, { as: ifMissing === 'start' ? 'existing-or-new' : 'existing', owner, user, waitMs }, options),
    start: ({ id = ports.newId(), owner, user, ...options } = {}) => opened(id, { as: 'new', owner, user }, options),
  }
}

export type EngineOn = Engine & {
  readonly ports: Ports
  readonly run: (opened: OpenedSession, options: SessionOptions) => Promise<EngineSession>
}

export function createEngineOn(platform: Platform, options: EngineOptions): EngineOn {
  const ports = portsOf(options)
  const shared: Shared = { platform, options, learned: nothingLearned(), ports, cleanUps: new Set() }
  const run: EngineOn['run'] = (opened, session) => sessionOn(shared, opened, session)
  return { model: options.model, ports, run, start: (session = {}) => run(inMemory(ports.newId()), session) }
}

/** What all sessions of an engine have in common. */
type Shared = {
  readonly platform: Platform
  readonly options: EngineOptions
  readonly learned: Learned
  readonly ports: Ports
  readonly cleanUps: Set<CleanUp>
}

type Ports = Pick<CompactionPorts, 'now' | 'newId' | 'wait'>

function portsOf({ ports }: EngineOptions): Ports {
  return { now: () => Date.now(), newId: () => crypto.randomUUID(), wait: systemPorts.wait, ...ports }
}

async function sessionOn(shared: Shared, opened: OpenedSession, options: SessionOptions): Promise<EngineSession> {
  const session = sessionOrClosed(shared, opened, options)
  await session.runHooks(startOf(session, opened))
  return Object.assign(session, {
    recall: (words: string, { limit = 10 } = {}) => opened.recall(words, limit),
    read: (id: string) => opened.read(id),
    subagent: (own: SessionOptions = {}) => startSubagent(shared, opened, { ...options, ...own }),
  })
}

/** Releases the store when the settings cannot work. */
function sessionOrClosed(shared: Shared, opened: OpenedSession, options: SessionOptions): Session {
  const { id, store } = opened
  const { onEvent } = shared.options
  const agentId = stringAt(options.envelope, 'agentId')
  const listeners = createListeners(onEvent ? [onEvent] : [], { sessionId: id, ...defined({ agentId }) })
  try {
    const runtime = runtimeFor(shared, opened, { options, emit: listeners.emit })
    const runHooks = () => session.runHooks(endOf(agentId))
    const close = closing(store, { runHooks, stored: () => session.stored() })
    const queued = leftInQueue(opened.entries)
    const session: Session = createSession({ id, path: store.path, agentId, runtime, listeners, queued, close })
    return session
  } catch (error) {
    void store.close()
    throw error
  }
}

type Closing = { readonly runHooks: () => Promise<unknown>; readonly stored: () => Promise<void> }

/** Runs the hooks once, even if the session is closed twice. Releases the store even if not everything was stored. */
function closing(store: Store, { runHooks, stored }: Closing): () => Promise<void> {
  let isClosed = false
  return async () => {
    try {
      if (!isClosed) await runHooks()
      if (!isClosed) await stored()
    } finally {
      isClosed = true
      await store.close()
    }
  }
}

function endOf(agentId: string | undefined): HookCall {
  if (agentId !== undefined) return { event: 'SubagentStop', details: { agent_id: agentId } }
  return { event: 'SessionEnd', details: { reason: 'other' } }
}

function startOf({ agentId }: Session, { entries }: OpenedSession): HookCall {
  if (agentId !== undefined) return { event: 'SubagentStart', details: { agent_id: agentId } }
  return { event: 'SessionStart', source: entries.length > 0 ? 'resume' : 'startup' }
}

function runtimeFor(
  { platform, options: engine, learned, ports, cleanUps }: Shared,
  opened: OpenedSession,
  { options, emit }: { readonly options: SessionOptions; readonly emit: Emit },
): Runtime {
  const { environment = platform.environment, ladder, model: client, ask, restore, files } = engine
  const { model: name = client.model, envelope, state: host, ...base } = options
  const settings = withEnvironment(withEconomy(engine.settings ?? {}), environment)
  const cwd = stringAt(envelope, 'cwd') ?? platform.cwd
  const isSubagent = envelope?.isSidechain === true
  const guard = createGuard({ emit, wait: ports.wait })
  const workspace = engine.workspace
    ? guardedWorkspace(engine.workspace, guard)
    : platform.workspace({ given: files, entries: opened.entries, cwd, isNamed: cwd === stringAt(envelope, 'cwd') })
  const given = { platform, cwd, settings, restore, files, host, guard }
  const parts = sessionParts({ ...opened, ...given, shared: cleanUps, isSubagent })
  const written = createConversation({
    store: opened.store,
    sessionId: opened.id,
    entries: opened.entries,
    isWhole: opened.isWhole,
    envelope: { userType: 'external', cwd, ...envelope },
    now: ports.now,
    newId: ports.newId,
    watch: parts.watch,
    onRewind: parts.onRewind,
  })
  const conversation = opened.wrap?.(written, (reason) => emit({ type: 'results-not-stored', reason })) ?? written
  const { ladder: defaults } = parts
  const hooked = { id: opened.id, path: opened.store.path, cwd }
  const hooks = hooksInto(conversation, hooksIn(engine, { platform, ports }, hooked))
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
    base: requestBase(base),
    cleanUps: parts.cleanUps,
    background: parts.background,
    memoryState: parts.memoryState,
  })
}

function hooksIn(
  { hooks }: EngineOptions,
  { platform, ports }: Pick<Shared, 'platform' | 'ports'>,
  session: HookedSession,
): Hooks {
  return hooks ? guardedHooks(hooks, { wait: ports.wait }) : platform.hooks(session)
}

async function startSubagent(shared: Shared, parent: OpenedSession, options: SessionOptions): Promise<EngineSession> {
  const agentId = shared.ports.newId()
  const own = { ...options, envelope: { ...options.envelope, isSidechain: true, agentId } }
  return sessionOn(shared, await parent.subagent(agentId), own)
}
