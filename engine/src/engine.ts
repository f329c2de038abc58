// The engine: starts sessions and gives each what it needs. It runs anywhere and keeps sessions in memory; node-engine.ts
// adds those on disk. What a session does is in core/session and core/ladder.

import { cacheStateOf } from './core/cache/state.ts'
import { withEconomy } from './core/ladder/economy.ts'
import type { Ladder } from './core/ladder/rung.ts'
import { type JsonObject, stringAt } from './core/message/json.ts'
import type { EngineEvent } from './core/ports/events.ts'
import type { FileStore } from './core/ports/files.ts'
import { createGuard } from './core/ports/guarded.ts'
import { guardedHooks, guardedWorkspace } from './core/ports/guarded-ports.ts'
import type { HookCall, Hooks } from './core/ports/hooks.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { CompactionPorts } from './core/ports/ports.ts'
import type { Restore } from './core/ports/restore.ts'
import type { Workspace } from './core/ports/workspace.ts'
import type { CleanUp } from './core/session/clean-up.ts'
import { createConversation } from './core/session/conversation.ts'
import { type Ask, type Desk, freshWeigher, type Lessons } from './core/session/desk.ts'
import { leftInQueue } from './core/session/held.ts'
import {
  barePlatform,
  type HookedSession,
  inMemory,
  type OpenedSession,
  type Platform,
} from './core/session/platform.ts'
import type { Recalled } from './core/session/recall.ts'
import { type RequestInput, requestBase } from './core/session/request-input.ts'
import type { HostState } from './core/session/restoring.ts'
import { createSession, type SessionInput } from './core/session/session.ts'
import { hooksInto } from './core/session/session-hooks.ts'
import type { Session } from './core/session/session-types.ts'
import { type EngineSettings, withEnvironment } from './core/session/settings.ts'
import { nothingSpent } from './core/session/spent.ts'
import { newTracking } from './core/session/tracking.ts'
import { calibrationOf } from './core/tokens/estimate/calibrate.ts'
import type { Environment } from './core/tokens/settings.ts'
import { systemPorts } from './models/ports.ts'
import { sessionParts } from './session-parts.ts'

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
  /** Rungs in place of the usual ones, by trigger; as a function it gets those, which know the session's notes and files. */
  readonly ladder?: Partial<Ladder> | ((usual: Ladder) => Partial<Ladder>)
  /** Ask mode: whether a compaction may run now. */
  readonly ask?: Ask
  readonly environment?: Environment
  readonly onEvent?: (event: EngineEvent) => void
  readonly ports?: Partial<Pick<CompactionPorts, 'now' | 'newId' | 'wait'>>
}

export type SessionOptions = RequestInput & {
  /** Another than the client's own. */
  readonly model?: string
  /** What is put on each record besides: cwd, version, gitBranch … */
  readonly envelope?: JsonObject
  /** What the host knows of the session besides the conversation: put back after a compaction. */
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

/** Sessions in memory, in any runtime. For sessions on disk use the createEngine of everlong/node. */
export function createEngine(options: EngineOptions): Engine {
  const { model, start } = createEngineOn(barePlatform(globalThis.process?.env ?? {}), options)
  return { model, start }
}

export type EngineOn = Engine & {
  readonly run: (opened: OpenedSession, options: SessionOptions) => Promise<EngineSession>
}

export function createEngineOn(platform: Platform, options: EngineOptions): EngineOn {
  const lessons: Lessons = { calibrations: {}, limits: {} }
  const ground: Ground = { platform, options, lessons, ports: portsOf(options), shared: new Set() }
  const run: EngineOn['run'] = (opened, session) => sessionOn(ground, opened, session)
  return { model: options.model, run, start: (session = {}) => run(inMemory(ground.ports.newId()), session) }
}

type Ground = {
  readonly platform: Platform
  readonly options: EngineOptions
  readonly lessons: Lessons
  readonly ports: Ports
  readonly shared: Set<CleanUp>
}

type Ports = Pick<CompactionPorts, 'now' | 'newId' | 'wait'>

function portsOf({ ports }: EngineOptions): Ports {
  return { now: () => Date.now(), newId: () => crypto.randomUUID(), wait: systemPorts.wait, ...ports }
}

async function sessionOn(ground: Ground, place: OpenedSession, options: SessionOptions): Promise<EngineSession> {
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
    recall: (words: string, { limit = 10 } = {}) => place.recall(words, limit),
    read: (id: string) => place.read(id),
    subagent: (own: SessionOptions = {}) => startSubagent(ground, place, { ...options, ...own }),
  })
}

function sessionOrClosed({ store }: OpenedSession, input: SessionInput): Session {
  try {
    return createSession(input)
  } catch (error) {
    store.close()
    throw error
  }
}

const sessionEnd = { event: 'SessionEnd', details: { reason: 'other' } } as const

function startOf({ agentId }: Session, { entries }: OpenedSession): HookCall {
  if (agentId !== undefined) return { event: 'SubagentStart', details: { agent_id: agentId } }
  return { event: 'SessionStart', source: entries.length > 0 ? 'resume' : 'startup' }
}

function deskFor(
  { platform, options: engine, lessons, ports, shared }: Ground,
  place: OpenedSession,
  { options, emit }: { readonly options: SessionOptions; readonly emit: Desk['emit'] },
): Desk {
  const { environment = platform.environment, ladder, model, ask } = engine
  const settings = withEnvironment(withEconomy(engine.settings ?? {}), environment)
  const { model: named, envelope, state: host, ...base } = options
  const modelName = named ?? model.model
  const cwd = stringAt(envelope, 'cwd') ?? platform.cwd
  const { restore, files } = engine
  const isSubagent = envelope?.isSidechain === true
  const guard = createGuard({ emit, wait: ports.wait })
  const workspace = engine.workspace
    ? guardedWorkspace(engine.workspace, guard)
    : platform.workspace({ given: files, entries: place.entries, cwd, isNamed: cwd === stringAt(envelope, 'cwd') })
  const parts = sessionParts({ ...place, platform, cwd, settings, restore, files, host, guard, shared, isSubagent })
  const talk = createConversation({
    store: place.store,
    sessionId: place.id,
    envelope: { userType: 'external', cwd, ...envelope },
    entries: place.entries,
    isWhole: place.isWhole,
    now: ports.now,
    newId: ports.newId,
    watch: parts.watch,
    onRewind: parts.onRewind,
  })
  const conversation = place.wrap?.(talk, (reason) => emit({ type: 'results-not-stored', reason })) ?? talk
  const { memory, collapser, cleanUps } = parts
  const { ladder: usual } = parts
  const hooks = hooksInto(
    conversation,
    hooksIn(engine, { platform, ports }, { id: place.id, path: place.store.path, cwd }),
  )
  return {
    conversation,
    settings,
    environment,
    ladder: { ...usual, ...(typeof ladder === 'function' ? ladder(usual) : ladder) },
    ports: { ...ports, emit, hooks, files: parts.files, workspace },
    restore: parts.restoreFor(conversation),
    emit,
    guard,
    ask,
    lessons,
    model,
    modelName,
    base: requestBase(base),
    tracking: newTracking(ports.newId()),
    weigher: freshWeigher({ settings, lessons }, modelName),
    calibration: calibrationOf(lessons.calibrations, modelName),
    noted: undefined,
    sized: undefined,
    cacheLifetime: cacheStateOf({ messages: conversation.view().messages, now: 0 }).lifetime,
    delegated: undefined,
    spent: nothingSpent,
    cleanUps,
    memory,
    collapser,
  }
}

function hooksIn(
  { hooks }: EngineOptions,
  { platform, ports }: Pick<Ground, 'platform' | 'ports'>,
  session: HookedSession,
): Hooks {
  return hooks ? guardedHooks(hooks, { wait: ports.wait }) : platform.hooks(session)
}

async function startSubagent(ground: Ground, parent: OpenedSession, options: SessionOptions): Promise<EngineSession> {
  const agentId = ground.ports.newId()
  const own = { ...options, envelope: { ...options.envelope, isSidechain: true, agentId } }
  return sessionOn(ground, await parent.subagent(agentId), own)
}
