// The engine on Node: sessions in transcripts on disk, files and git of the working directory, hooks from settings files.

import { defined } from './core/message/json.ts'
import { noHooks } from './core/ports/hooks.ts'
import type { SessionStore } from './core/ports/session-store.ts'
import { StoreError } from './core/ports/store.ts'
import { MemoryKeeper } from './core/session/memory-keeper.ts'
import type { OpenedSession, Platform } from './core/session/platform.ts'
import type { SessionOptions as AnySessionOptions, Session } from './core/session/session-api.ts'
import {
  type Engine as AnyEngine,
  type EngineOptions as AnyEngineOptions,
  createEngineOn,
  type EngineOn,
  engineOnStore,
  requireOptions,
  requireText,
  type StoreEngine,
} from './engine.ts'
import { type HookChoices, hooksFor } from './node/hooks/hooks.ts'
import {
  openSessionFile,
  openSubagentFile,
  type SessionFile,
  type SessionFileOptions,
} from './node/session/session-file.ts'
import { sessionFiles, workspaceFor } from './node/session/session-files.ts'
import { openMemory } from './node/session/session-memory.ts'
import { keepingResults } from './node/write/keep-results.ts'

export type EngineOptions = AnyEngineOptions & {
  /** Functions and shell commands in the form of settings files; ignored when `hooks` is given. */
  readonly hookSettings?: HookChoices
}

export type SessionOptions = AnySessionOptions & {
  /** The name of the writer, shown to others who find the session taken. */
  readonly owner?: string
  /** If another process writes this session: refuse (the default), or continue in a copy. */
  readonly ifHeld?: 'refuse' | 'fork'
}

export type Engine = Omit<AnyEngine, 'start'> & {
  /** Continues a session on disk. Throws a StoreError with a `reason` when there is none, or it cannot be opened. */
  readonly open: (
    path: string,
    options?: SessionOptions & {
      /** When there is no file: refuse (the default), or start a session in a new one. */
      readonly ifMissing?: 'refuse' | 'start'
    },
  ) => Promise<Session>
  /** A new session: in memory, or in a new file at `path`. Throws when there is a file already. */
  readonly start: (options?: SessionOptions & { readonly path?: string }) => Promise<Session>
}

export function createEngine(options: EngineOptions & { readonly store: SessionStore }): StoreEngine
export function createEngine(options: EngineOptions): Engine
export function createEngine(given: EngineOptions & { readonly store?: SessionStore }): Engine | StoreEngine {
  const { hookSettings, store, ...options } = requireOptions(given)
  const engine = createEngineOn(nodePlatform(hookSettings), options)
  return store ? engineOnStore(engine, store, withFiles) : engineOnDisk(engine)
}

function engineOnDisk({ start, run, model }: EngineOn): Engine {
  const onDisk = async (path: string, file: SessionFileOptions['file'], session: SessionOptions) => {
    requireText(path, `${file === 'new' ? 'start' : 'open'}() needs the path of a transcript`)
    const { owner = 'everlong', ifHeld, ...others } = session
    return run(await openOnDisk(path, { file, owner, ...defined({ ifHeld }) }), others)
  }
  return {
    model,
    open: (path, { ifMissing, ...session } = {}) =>
      onDisk(path, ifMissing === 'start' ? 'existing-or-new' : 'existing', session),
    start: ({ path, ...session } = {}) => {
      if (path !== undefined) return onDisk(path, 'new', session)
      const { owner: _, ifHeld: __, ...others } = session
      return start(others)
    },
  }
}

/** What a session that is a file keeps next to it. */
function withFiles(opened: OpenedSession): OpenedSession {
  const { path } = opened.store
  if (path === undefined) return opened
  return {
    ...opened,
    notes: (how) => new MemoryKeeper({ ...how, store: openMemory(path) }),
    wrap: (conversation, onProblem) => keepingResults(conversation, path, onProblem),
  }
}

function nodePlatform(hookSettings: HookChoices | undefined): Platform {
  return {
    environment: process.env,
    get cwd() {
      return process.cwd()
    },
    files: sessionFiles,
    workspace: workspaceFor,
    hooks: (session) => (hookSettings ? hooksFor(hookSettings, session) : noHooks),
  }
}

async function openOnDisk(path: string, options: SessionFileOptions): Promise<OpenedSession> {
  return sessionIn(await openSessionFile(path, options), options)
}

function sessionIn(opened: SessionFile, options: SessionFileOptions): OpenedSession {
  // The cause says who writes the session now.
  if (opened.type === 'failed') throw new StoreError(opened.why, { reason: opened.reason, cause: opened.heldBy })
  const { type: _, ...file } = opened
  return withFiles({
    ...file,
    // A sub-agent's file carries the id of the session it belongs to.
    subagent: async (agentId) => {
      const own = await openSubagentFile(file.store.path, agentId, options)
      return { ...sessionIn(own, options), id: file.id }
    },
  })
}
