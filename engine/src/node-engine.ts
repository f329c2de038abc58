// The engine on Node: sessions in transcripts on disk, files and git of the working directory, hooks from settings files.

import { defined, describeValue } from './core/message/json.ts'
import { noHooks } from './core/ports/hooks.ts'
import type { SessionStore } from './core/ports/session-store.ts'
import type { HostPorts } from './core/session/host.ts'
import { MemoryKeeper } from './core/session/memory-keeper.ts'
import type { SessionOptions as AnySessionOptions, Session } from './core/session/session-api.ts'
import type { Transcript } from './core/session/transcript.ts'
import {
  type Engine as AnyEngine,
  type EngineOptions as AnyEngineOptions,
  type ContinueOptions,
  createSessions,
  engineOn,
  type ReadOptions,
  requireOptions,
  requireText,
  type Sessions,
} from './engine.ts'
import { type HookChoices, hooksFor } from './node/hooks/hooks.ts'
import { allEntries, readTranscript, type ReadOptions as TranscriptOptions } from './node/read/transcript.ts'
import { sessionFiles, workspaceFor } from './node/session/session-files.ts'
import { openMemory } from './node/session/session-memory.ts'
import { sharedPool } from './node/workers/pool.ts'
import { keepingResults } from './node/write/keep-results.ts'
import type { Sync } from './node/write/writer.ts'
import type { OwnReadSession } from './read-session.ts'
import { recallOnDisk, storeErrorOf, transcriptFiles } from './stores/disk/file.ts'

export type EngineOptions = AnyEngineOptions & {
  /** Functions and shell commands in the form of settings files. Ignored if `hooks` is given. */
  readonly hookSettings?: HookChoices
  /**
   * When records of sessions by path are flushed to disk (fsync): `never` (the default, which leaves it to the system), at the
   * end of each `turn`, or `always`, after each record.
   */
  readonly sync?: Sync
  /**
   * Does the long work of compactions (reading the conversation, checking a summary, writing the page) in worker threads that all
   * engines of the process share, with the same result. Functions of the host, such as `tokenizer`, `redact` and mechanisms, run
   * on the main thread as before. Default: false.
   */
  readonly worker?: boolean
}

export type SessionOptions = AnySessionOptions & {
  /** If another process writes the transcript: refuse (the default), or continue in a copy. */
  readonly ifHeld?: 'refuse' | 'fork'
}

export type Engine = Omit<AnyEngine, 'open' | 'start'> & {
  /**
   * Continues a session: by the path of its transcript, or by its id if the engine has a store. Throws a StoreError with a
   * `reason` if there is none or it cannot be opened.
   */
  readonly open: (pathOrId: string, options?: ContinueOptions & SessionOptions) => Promise<Session>
  /** Starts a session: in a new file at `path`, in the store, or only in memory. Throws a StoreError if it already exists. */
  readonly start: (options?: SessionOptions & { readonly path?: string; readonly id?: string }) => Promise<Session>
}

export function createEngine(given: EngineOptions & { readonly store?: SessionStore }): Engine {
  const { hookSettings, store, sync, worker = false, ...options } = requireOptions(given)
  if (typeof worker !== 'boolean') {
    throw new TypeError(`createEngine(): worker must be true or false; it is ${describeValue(worker)}.`)
  }
  const sessions = createSessions(nodeHost(defined({ hookSettings, worker })), options)
  if (store) return engineOn(sessions, store)
  const inFiles = ({ ifHeld }: Pick<SessionOptions, 'ifHeld'>) =>
    engineOn(sessions, transcriptFiles(defined({ ifHeld, sync })))
  const inMemory = engineOn(sessions)
  return {
    model: sessions.model,
    open: async (path, { ifHeld, ...session } = {}) => {
      requireText(path, 'open() needs the path of a transcript')
      return inFiles(defined({ ifHeld })).open(path, session)
    },
    start: async ({ path, ifHeld, ...session } = {}) => {
      if (path === undefined) return inMemory.start(session)
      requireText(path, 'start() needs the path of a transcript')
      return inFiles(defined({ ifHeld })).start({ ...session, id: path })
    },
    read: async (source, options = {}) => {
      if (typeof source !== 'string') return inMemory.read(source, options)
      requireText(source, 'read() needs the path of a transcript')
      try {
        return (await readIn(sessions, source, options)).session
      } catch (error) {
        throw storeErrorOf(error)
      }
    },
  }
}

export type ReadFile = {
  readonly session: OwnReadSession
  /** The transcript from which the session was read. */
  readonly transcript: Transcript
}

type FileOptions = ReadOptions & Pick<TranscriptOptions, 'whole' | 'withFacts' | 'onProgress'>

/** For our own tools, which show more than a session does. Throws the system's error if the file cannot be read. */
export function readFile(path: string, { engine, ...options }: FileOptions & { readonly engine: EngineOptions }) {
  return readIn(createSessions(nodeHost({}), engine), path, options)
}

async function readIn(
  sessions: Sessions,
  path: string,
  { before, whole, withFacts, onProgress, ...options }: FileOptions,
): Promise<ReadFile> {
  const reading = defined({ before, whole, withFacts, onProgress })
  const transcript = readTranscript(path, reading)
  // Recall must not find anything newer than the requested state.
  const stored = before === undefined ? { all: async () => allEntries(path), ...recallOnDisk(path) } : undefined
  return { session: await sessions.read(transcript, options, stored), transcript }
}

function nodeHost({ hookSettings, worker }: Pick<EngineOptions, 'hookSettings' | 'worker'>): HostPorts {
  return {
    environment: process.env,
    get cwd() {
      return process.cwd()
    },
    files: sessionFiles,
    workspace: workspaceFor,
    hooks: (session) => (hookSettings ? hooksFor(hookSettings, session) : noHooks),
    notes: (path, how) => new MemoryKeeper({ ...how, store: openMemory(path) }),
    keepingResults,
    ...(worker ? { offload: () => sharedPool().offload() } : {}),
  }
}
