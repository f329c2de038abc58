// The engine on Node: opens sessions on disk or starts them in memory, and gives each what it needs. What a session does
// is core's business (core/ladder).

import { cacheStateOf } from './core/cache/state.ts'
import type { CompactRungOptions } from './core/ladder/compact-rung.ts'
import { withEconomy } from './core/ladder/economy.ts'
import type { Ladder } from './core/ladder/ladder.ts'
import { type JsonObject, stringAt } from './core/message/json.ts'
import type { EngineEvent } from './core/ports/events.ts'
import type { FileStore } from './core/ports/files.ts'
import { createGuard } from './core/ports/guarded.ts'
import { guardedHooks, guardedWorkspace } from './core/ports/guarded-ports.ts'
import { type HookCall, type Hooks, noHooks } from './core/ports/hooks.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { CompactionPorts } from './core/ports/ports.ts'
import type { Workspace } from './core/ports/workspace.ts'
import { createRequester } from './core/request/from-view.ts'
import type { CleanUp } from './core/session/clean-up.ts'
import { createConversation } from './core/session/conversation.ts'
import { type Ask, type Desk, freshWeigher, type Lessons, type RequestBase } from './core/session/desk.ts'
import { leftInQueue } from './core/session/held.ts'
import { type Recalled, readFrom, recallFrom } from './core/session/recall.ts'
import type { HostState } from './core/session/restoring.ts'
import { createSession, type SessionInput } from './core/session/session.ts'
import { hooksInto } from './core/session/session-hooks.ts'
import type { Session } from './core/session/session-types.ts'
import { type EngineSettings, withEnvironment } from './core/session/settings.ts'
import { nothingSpent } from './core/session/spent.ts'
import { memoryStore, type Store } from './core/session/store.ts'
import { newTracking } from './core/session/tracking.ts'
import { calibrationOf } from './core/tokens/estimate/calibrate.ts'
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
  const lessons: Lessons = { calibrations: {}, limits: {} }
  const ground: Ground = { options, lessons, ports: portsOf(options), shared: new Set() }
  return {
    model: options.model,
    open: (path, session = {}) => onDisk(ground, { path, file: 'existing' }, session),
    start: ({ path, ...session } = {}) => {
      if (path !== undefined) return onDisk(ground, { path, file: 'new' }, session)
      const store = memoryStore()
      return sessionOn(ground, { store, entries: [], id: ground.ports.newId() }, session)
    },
  }
}

/** A sub-agent's file carries the id of the session it belongs to. */
type OpenOptions = SessionOptions & { readonly id?: string }
type Ground = {
  readonly options: EngineOptions
  readonly lessons: Lessons
  readonly ports: Ports
  readonly shared: Set<CleanUp>
}
type Place = {
  readonly store: Store
  readonly entries: readonly Entry[]
  /** Whether those are all there are. */
  readonly isWhole?: boolean
  readonly id: string
}

type Ports = Pick<CompactionPorts, 'now' | 'newId' | 'wait'>

function portsOf({ ports }: EngineOptions): Ports {
  return { now: () => Date.now(), newId: () => crypto.randomUUID(), wait: systemPorts.wait, ...ports }
}

async function onDisk(
  ground: Ground,
  { path, file }: { readonly path: string; readonly file: 'new' | 'existing' },
  session: OpenOptions,
): Promise<EngineSession> {
  const opened = await openSessionFile(path, {
    file,
    owner: session.owner ?? 'everlong',
    ...(session.ifHeld === undefined ? {} : { ifHeld: session.ifHeld }),
  })
  if (opened.type === 'failed') throw new Error(opened.why)
  const { store, entries, isWhole, sessionId } = opened
  const { id = sessionId, ...options } = session
  return sessionOn(ground, { store, entries, isWhole, id }, options)
}

async function sessionOn(ground: Ground, place: Place, options: SessionOptions): Promise<EngineSession> {
  const { onEvent } = ground.options
  let isClosed = false
  const session: Session = sessionOrClosed(place, {
    id: place.id,
    path: place.store.path,
    agentId: stringAt(options.envelope, 'agentId'),
    desk: (emit) => deskFor(ground, place, { options, emit }),
    listeners: onEvent ? [onEvent] : [],
    queued: leftInQueue(place.entries),
    close: async () => {
      const { agentId } = session
      const end =
        agentId === undefined ? sessionEnd : ({ event: 'SubagentStop', details: { agent_id: agentId } } as const)
      try {
        if (!isClosed) await session.runHooks(end)
      } finally {
        isClosed = true
        place.store.close()
      }
    },
  })
  await session.runHooks(startOf(session, place))
  return Object.assign(session, {
    recall: (words: string, { limit = 10 } = {}) => recall(place.store, words, limit),
    read: (id: string) => readById(place.store, id),
    subagent: (own: SessionOptions = {}) => startSubagent(ground, place, { ...options, ...own }),
  })
}

function sessionOrClosed({ store }: Place, input: SessionInput): Session {
  try {
    return createSession(input)
  } catch (error) {
    store.close()
    throw error
  }
}

const sessionEnd = { event: 'SessionEnd', details: { reason: 'other' } } as const

function startOf({ agentId }: Session, { entries }: Place): HookCall {
  if (agentId !== undefined) return { event: 'SubagentStart', details: { agent_id: agentId } }
  return { event: 'SessionStart', source: entries.length > 0 ? 'resume' : 'startup' }
}

function deskFor(
  { options: engine, lessons, ports, shared }: Ground,
  place: Place,
  { options, emit }: { readonly options: SessionOptions; readonly emit: Desk['emit'] },
): Desk {
  const { environment = process.env, ladder, model, ask } = engine
  const settings = settingsOf(engine, environment)
  const { model: named, envelope, owner: _, ifHeld: __, state: host, ...base } = options
  const modelName = named ?? model.model
  const cwd = stringAt(envelope, 'cwd') ?? process.cwd()
  const { compaction, files } = engine
  const isSubagent = envelope?.isSidechain === true
  const guard = createGuard({ emit, wait: ports.wait })
  const workspace = engine.workspace
    ? guardedWorkspace(engine.workspace, guard)
    : workspaceFor({ given: files, entries: place.entries, cwd, isNamed: cwd === stringAt(envelope, 'cwd') })
  const parts = sessionParts({ ...place, cwd, settings, compaction, files, host, guard, shared, isSubagent })
  const talk = createConversation({
    store: place.store,
    sessionId: place.id,
    envelope: { userType: 'external', cwd, ...envelope },
    entries: place.entries,
    isWhole: place.isWhole,
    now: ports.now,
    newId: ports.newId,
    watch: parts.watch,
  })
  const { path } = place.store
  const conversation =
    path === undefined ? talk : keepingResults(talk, path, (reason) => emit({ type: 'results-not-stored', reason }))
  const { memory, collapser, cleanUps } = parts
  const usual = parts.ladderFor(conversation)
  const hooks = hooksInto(conversation, hooksIn(engine, ports, { id: place.id, path, cwd }))
  return {
    conversation,
    settings,
    environment,
    ladder: { ...usual, ...(typeof ladder === 'function' ? ladder(usual) : ladder) },
    ports: { ...ports, emit, hooks, files: parts.files, workspace },
    emit,
    guard,
    ask,
    lessons,
    model,
    modelName,
    base,
    tracking: newTracking(ports.newId()),
    weigher: freshWeigher({ settings, lessons }, modelName),
    calibration: calibrationOf(lessons.calibrations, modelName),
    noted: undefined,
    requester: createRequester(),
    sized: undefined,
    cheapest: undefined,
    cacheLifetime: cacheStateOf({ messages: conversation.view().messages, now: 0 }).lifetime,
    delegated: undefined,
    spent: nothingSpent,
    cleanUps,
    memory,
    collapser,
  }
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

async function startSubagent(ground: Ground, parent: Place, options: SessionOptions): Promise<EngineSession> {
  const agentId = ground.ports.newId()
  const own = { ...options, envelope: { ...options.envelope, isSidechain: true, agentId } }
  const { path } = parent.store
  if (path !== undefined) {
    return onDisk(ground, { path: subagentPath(path, agentId), file: 'new' }, { ...own, id: parent.id })
  }
  return sessionOn(ground, { store: memoryStore(), entries: [], id: parent.id }, own)
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
