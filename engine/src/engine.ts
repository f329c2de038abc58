// The engine: opens sessions of a store and gives each its parts. Runs in any runtime; node-engine.ts adds transcripts by path,
// files, git and hooks. The behavior of a session is in core/session.
import { Collapser } from './core/collapse/collapse.ts'
import { reductionsWith } from './core/mechanisms/lists.ts'
import type { Mechanisms } from './core/mechanisms/mechanism.ts'
import { defined, describeValue, isObject, type JsonObject, stringAt } from './core/message/json.ts'
import type { Emit } from './core/ports/events.ts'
import type { HookCall } from './core/ports/hooks.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { CompactionPorts } from './core/ports/ports.ts'
import { createGuard, createListeners, type Listeners, safeHooks, safeRestore } from './core/ports/safely.ts'
import { defaultRecallLimit, type HeldSession, type SessionStore, subagentId } from './core/ports/session-store.ts'
import { type Learned, notedIn, nothingLearned } from './core/session/context-note.ts'
import { createConversation } from './core/session/conversation.ts'
import {
  bareHost,
  type EngineOptions,
  type EnginePorts,
  type HostPorts,
  safeFiles,
  safeFunctions,
  safeState,
  safeWorkspace,
} from './core/session/host.ts'
import { requestBase } from './core/session/input.ts'
import { loadedMechanism } from './core/session/mechanisms.ts'
import type { Memory } from './core/session/memory-keeper.ts'
import { leftInQueue, queuedEntries, withQueued } from './core/session/queue.ts'
import { Restoring } from './core/session/restoring.ts'
import { type CleanUp, createCleanUps, createRuntime, hooksInto, type Runtime } from './core/session/runtime.ts'
import { createSession, type OwnSession } from './core/session/session.ts'
import type { Session, SessionOptions } from './core/session/session-api.ts'
import {
  type Opener,
  type OpenSessionOptions,
  openSession,
  type Readable,
  recordsIn,
  StoredSession,
  sessionIdOf,
} from './core/session/stored-session.ts'
import type { Transcript } from './core/session/transcript.ts'
import { checkSettings, unknownOptions, warningOf } from './core/settings/check.ts'
import { completeSettings, readEnvironment } from './core/settings/resolve.ts'
import type { Settings } from './core/settings/table.ts'
import { createPause, type Pause } from './core/text/slices.ts'
import type { Fold } from './core/transcript/view/fold.ts'
import { nextTurn, systemPorts } from './models/ports.ts'
import type { OwnReadSession, ReadSession, Whole } from './read-session.ts'
import { inMemory } from './stores/memory.ts'

export type { EngineOptions } from './core/session/host.ts'

export type ContinueOptions = SessionOptions & {
  /** If there is no such session: refuse (the default), or start it. */
  readonly ifMissing?: 'refuse' | 'start'
  /** How long to wait while another writer holds the session. Default: 0. */
  readonly waitMs?: number
}

export type Engine = {
  readonly model: ModelClient
  /** Starts a session in the store, or only in memory. Throws a StoreError if the store already has this id. */
  readonly start: (options?: SessionOptions & { readonly id?: string }) => Promise<Session>
  /** Continues a session of the store. Throws a StoreError with a `reason` if there is none or another writer has it. */
  readonly open: (id: string, options?: ContinueOptions) => Promise<Session>
  /**
   * A session to look at, from its records in any format that Everlong reads, or from the store. Nothing is written:
   * `prepare()` shows the next request as it would be without an automatic compaction, `compact()` returns a compaction with
   * its records, and calls that would write throw a StoreError with the reason `read-only`.
   *
   *     const session = await engine.read(records)
   *     console.log(session.explain().size, await session.plan())
   */
  readonly read: (source: string | readonly JsonObject[], options?: ReadOptions) => Promise<ReadSession>
}

export type ReadOptions = SessionOptions & {
  /** The state before this entry, by uuid or index in `entries()`. For a boundary, the input of its compaction. Default: the end. */
  readonly before?: string | number
}

/**
 * Creates an engine whose sessions are in the given store, or only in memory. Works in any runtime. For sessions in files, use
 * the createEngine of everlong/node.
 */
export function createEngine(given: EngineOptions & { readonly store?: SessionStore }): Engine {
  const { store, ...options } = requireOptions(given)
  return engineOn(createSessions(bareHost(globalThis.process?.env ?? {}), options), store)
}

/** Throws a TypeError that names the missing option, because a program in JavaScript gets no other hint. */
export function requireOptions<Options extends EngineOptions>(given: Options): Options {
  const example = 'createEngine({ model: anthropic({ model: "claude-…" }) }), or offline() for none'
  if (!isObject(given)) {
    throw new TypeError(`createEngine() needs options; it got ${describeValue(given)}. For example: ${example}.`)
  }
  if (!isObject(given.model) || typeof given.model.send !== 'function') {
    throw new TypeError(
      `createEngine() needs a model client as "model"; it is ${describeValue(given.model)}. For example: ${example}.`,
    )
  }
  return given
}

/** The compiler reports an option that is missing here. */
const optionNames: { readonly [Name in keyof EngineOptions]-?: true } = {
  model: true,
  settings: true,
  hooks: true,
  files: true,
  redact: true,
  summaryPrompt: true,
  retain: true,
  tokenizer: true,
  workspace: true,
  restore: true,
  mechanisms: true,
  ask: true,
  environment: true,
  onEvent: true,
  ports: true,
}

/** An engine whose sessions are in one store. */
export function engineOn({ model, newId, open, read }: Sessions, store: Readable = inMemory): Engine {
  return {
    model,
    read: async (source, { before, ...options } = {}) => {
      if (!Array.isArray(source)) requireText(source, 'read() needs records, or the id or path of a session')
      const records = typeof source === 'string' ? await recordsIn(store, source) : source
      const { transcriptOfRecords } = await import('./core/session/transcript.ts')
      return read(transcriptOfRecords(records, '', before), options)
    },
    open: async (id, { ifMissing, ...options } = {}) => {
      requireText(id, 'open() needs the id of a session')
      return open(store, id, { ...options, as: ifMissing === 'start' ? 'existing-or-new' : 'existing' })
    },
    start: async ({ id = newId(), ...options } = {}) => {
      requireText(id, 'start() needs a text as the id of a session')
      if ('path' in options && options.path !== undefined) {
        throw new TypeError('start() takes no path here, because the sessions are in a store: pass an id instead.')
      }
      return open(store, id, { ...options, as: 'new' })
    },
  }
}

export function requireText(value: unknown, what: string): void {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${what}; it got ${describeValue(value)}.`)
}

/** Opens sessions of any store. */
export type Sessions = {
  readonly model: ModelClient
  readonly newId: () => string
  readonly open: (
    store: Opener,
    id: string,
    options: Omit<ContinueOptions, 'ifMissing'> & Pick<OpenSessionOptions, 'as'>,
  ) => Promise<Session>
  readonly read: (transcript: Transcript, options: SessionOptions, whole?: Whole) => Promise<OwnReadSession>
}

export function createSessions(host: HostPorts, options: EngineOptions): Sessions {
  const ports = {
    now: () => Date.now(),
    newId: () => crypto.randomUUID(),
    wait: systemPorts.wait,
    ...options.ports,
    pause: pauseOf(options.ports),
  }
  const { settings, problems } = checkSettings(options.settings)
  const shared: EngineParts = {
    host,
    options: { ...options, settings },
    warnings: [...unknownOptions(options, Object.keys(optionNames)), ...problems.map(warningOf)],
    learned: nothingLearned(),
    ports,
    cleanUps: new Set(),
  }
  return {
    model: options.model,
    newId: ports.newId,
    open: async (store, id, { as, owner, user, waitMs, ...session }) => {
      const held = await openSession(store, id, { as, owner, user, waitMs, ...ports })
      return sessionOn(shared, { store, owner, held, id: sessionIdOf(held) }, session)
    },
    read: async (transcript, session, whole) => {
      const { readSession } = await import('./read-session.ts')
      const { hooks: _, ask: __, ...quiet } = shared.options
      const { environment = host.environment } = quiet
      return readSession({
        ...{ transcript, whole, model: options.model, settings: settings ?? {}, options: session },
        ...{ ports, environment, functions: quiet },
        open: ({ held, fold, model, note, listeners, options: own, ...changed }) => {
          const known = { learned: nothingLearned(), overhead: note?.overhead, host: bareHost(host.environment) }
          const reading = { ...shared, ...known, listeners, options: { ...quiet, ...changed, model } }
          return sessionOn(reading, { store: inMemory, owner: undefined, held, fold, id: held.id }, own)
        },
      })
    },
  }
}

/** One pause for all sessions of the engine, so that they take turns. `pause: undefined` turns it off. */
function pauseOf(given: EngineOptions['ports'] = {}): Pause | undefined {
  const yieldNow = 'pause' in given ? given.pause : nextTurn
  return yieldNow && createPause(yieldNow)
}

type EngineParts = {
  readonly host: HostPorts
  readonly options: EngineOptions
  readonly warnings: readonly string[]
  readonly learned: Learned
  /** Tokens of the system prompt and the tools that a session noted, if it is only read. */
  readonly overhead?: number | undefined
  /** For a session that is only read. */
  readonly listeners?: Listeners
  readonly ports: EnginePorts & Pick<CompactionPorts, 'offload'>
  readonly cleanUps: Set<CleanUp>
}

/** A session that was taken for writing, and the store it is in. */
type OpenedSession = {
  readonly store: Opener
  readonly owner: string | undefined
  readonly held: HeldSession
  /** The fold of its entries, if it was computed before. */
  readonly fold?: Fold | undefined
  /** The id in its records. A sub-agent has the id of its parent session. */
  readonly id: string
}

async function sessionOn(shared: EngineParts, opened: OpenedSession, options: SessionOptions): Promise<Session> {
  const { id, held, store, owner } = opened
  const { entries } = held
  const stored = new StoredSession(held, shared.ports)
  const agentId = stringAt(options.envelope, 'agentId')
  const start: HookCall =
    agentId === undefined
      ? { event: 'SessionStart', source: entries.length > 0 ? 'resume' : (options.startedBy ?? 'startup') }
      : { event: 'SubagentStart', details: { agent_id: agentId } }
  const source = { sessionId: id, ...defined({ agentId }) }
  const { listeners = createListeners(shared.options.onEvent, source) } = shared
  let session: OwnSession
  let runtime: Runtime
  try {
    const ports = { ...shared.ports, offload: shared.host.offload?.() }
    runtime = runtimeFor({ ...shared, ports }, { ...opened, stored }, { options, emit: listeners.emit })
    session = createSession({ runtime, listeners, queued: leftInQueue(entries), close: stored.close })
  } catch (error) {
    // The settings cannot work.
    void stored.close()
    throw error
  }
  await session.runHooks(start)
  const { recall, read } = withQueued(stored, () => queuedEntries(runtime.conversation.standing()))
  return Object.assign(session, {
    recall: async (words: string, { limit = defaultRecallLimit } = {}) => {
      const { pause } = shared.ports
      await pause?.()
      return recall(words, limit, pause)
    },
    read,
    entries: stored.entries,
    subagent: async (own: SessionOptions = {}) => {
      const agentId = shared.ports.newId()
      const envelope = { ...(own.envelope ?? options.envelope), isSidechain: true, agentId }
      const place = { ...shared.ports, as: 'new', owner, parent: held.id } as const
      const agent = await openSession(store, subagentId(held.id, `agent-${agentId}`), place)
      return sessionOn(shared, { ...opened, held: agent, fold: undefined }, { ...options, ...own, envelope })
    },
  })
}

function runtimeFor(
  { host, options: engine, warnings, learned, overhead, ports, cleanUps }: EngineParts,
  { id, held, fold, stored }: OpenedSession & { readonly stored: StoredSession },
  { options, emit }: { readonly options: SessionOptions; readonly emit: Emit },
): Runtime {
  const { entries, path } = held
  const { environment = host.environment, model: client, ask } = engine
  const { model: name = client.model, envelope, state, startedBy: _, owner: __, user: ___, ...base } = options
  const settings = completeSettings(readEnvironment(engine.settings ?? {}, environment).settings)
  // The workspace folder that the host named. Never the one from a transcript.
  const cwd = stringAt(envelope, 'cwd') ?? host.cwd
  const isSubagent = envelope?.isSidechain === true
  const guard = createGuard({ emit, wait: ports.wait })
  const { redact, summaryPrompt, retainer, tokenizer } = safeFunctions(engine, guard)
  const given = engine.files && safeFiles(engine.files, guard, redact)
  const named = settings.reductions.toolKinds
  const permitted = (path: string) => restoring.permitted(path)
  const { files, onMessage: see } = host.files({ given, entries, cwd, named, permitted, redact })
  const restoring: Restoring = new Restoring({
    files,
    ofTurnOnly: settings.economy === 'thrifty',
    host: state && safeState(state, guard),
    root: () => cwd,
    named,
    entries: stored.entries,
  })
  const written = createConversation({
    path,
    entries,
    fold,
    isWhole: held.isWhole,
    store: stored,
    sessionId: id,
    envelope: { userType: 'external', cwd, ...envelope },
    ...ports,
    watch: engine.restore
      ? undefined
      : (record, message, how) => {
          restoring.add(record, message)
          if (message) see(message, record, how)
        },
    onRewind: restoring.readAgain,
  })
  const onProblem = (reason: string) => emit({ type: 'results-not-stored', reason })
  const conversation = (path !== undefined && host.keepingResults?.(written, path, onProblem)) || written
  const hooks = engine.hooks ? safeHooks(engine.hooks, ports.wait) : host.hooks({ id, path, cwd })
  const workspace = engine.workspace
    ? safeWorkspace(engine.workspace, guard)
    : host.workspace({ given, entries, cwd, isNamed: cwd === stringAt(envelope, 'cwd') })
  return createRuntime({
    ...mechanismsFor(engine, settings, memoryFor(host, { held, settings, isSubagent })),
    conversation,
    settings,
    warnings,
    environment,
    ports: { ...ports, emit, hooks: hooksInto(conversation, hooks), workspace, redact, summaryPrompt },
    restore: engine.restore
      ? safeRestore(engine.restore, guard)
      : (request) => restoring.restore(request, conversation),
    guard,
    ask,
    retainer,
    tokenizer,
    ...{ learned, noted: notedIn(entries), overhead },
    model: { client, name },
    base: requestBase(base),
    cleanUps: createCleanUps(cleanUps, { isSubagent, guard }),
  })
}

function mechanismsFor(
  { mechanisms: own, settings: given }: EngineOptions,
  settings: Settings,
  memory: Memory,
): Pick<Runtime, 'mechanisms' | 'background' | 'memoryState'> {
  const collapser = settings.collapse ? new Collapser() : undefined
  const defaults: Mechanisms = {
    reduce: [...(collapser ? [collapser.mechanism] : []), ...reductionsWith(given?.reductions)],
    compact: [
      loadedMechanism('session-memory', (code, context) => code.summarizeFromNotes(context, memory)),
      loadedMechanism('compact', ({ summarize }, context) => summarize(context, settings.keep)),
    ],
  }
  return {
    mechanisms: { ...defaults, ...(typeof own === 'function' ? own(defaults) : own) },
    background: [...('store' in memory ? [memory] : []), ...(collapser ? [collapser] : [])],
    memoryState: () =>
      'store' in memory ? memory.state() : { isOn: false, isExtracting: false, hasStopped: false, declined: memory },
  }
}

type MemoryInput = { readonly held: HeldSession; readonly settings: Settings; readonly isSubagent: boolean }

function memoryFor({ notes }: HostPorts, { held, settings, isSubagent }: MemoryInput): Memory {
  if (isSubagent) return { type: 'declined', reason: 'turned-off', why: 'Sub-agents keep no notes.' }
  if (notes && held.path !== undefined) {
    return notes(held.path, { settings: settings.sessionMemory, isResumed: held.entries.length > 0 })
  }
  const why = 'Notes are a file next to the transcript, and this engine keeps none.'
  return { type: 'declined', reason: 'in-memory', why }
}
