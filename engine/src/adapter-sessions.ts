// The sessions of an adapter: which conversation a call belongs to, and how its session is started or opened. A call belongs
// to the session or the id that the host names. Otherwise it belongs to the conversation that its messages continue, and any
// other history gets a session of its own, so that two people who begin alike never share one.
import type { Converter } from './adapters/history/converter.ts'
import { type AdapterCall, type HistoryOf, type Imported, ManagedHistory } from './adapters/history/managed-history.ts'
import { costOf } from './core/cache/economics.ts'
import { defined, objectAt, stringAt } from './core/message/json.ts'
import { noTokens } from './core/message/usage.ts'
import { type ModelClient, noCapabilities } from './core/ports/model.ts'
import { callNow } from './core/ports/safely.ts'
import { type SessionStore, StoreError } from './core/ports/session-store.ts'
import { createMutex } from './core/session/queue.ts'
import type { Session } from './core/session/session-api.ts'
import { createEngine, type Engine, type EngineOptions, requireText } from './engine.ts'

/** The options of every `everlong()`: those of `createEngine`, and which session a call belongs to. */
export type AdapterOptions<Call> = Omit<EngineOptions, 'model'> & {
  /**
   * Keeps the sessions by the ids of their conversations. A call that names no conversation is refused. Default: sessions in
   * memory until they are closed.
   */
  readonly store?: SessionStore
  /**
   * Creates the engine for each model. The one of everlong/node adds files and git of the working directory, and in a folder
   * notes and large results next to the transcript. Default: the one of everlong.
   */
  readonly createEngine?: (options: EngineOptions & { readonly store?: SessionStore }) => Engine
  /** The conversation of a call: one id for all calls, or a function. Default: the name in the SDK's call. */
  readonly sessionId?: string | ((call: Call) => string | undefined)
  /** The user of a session, for erasure from the store, and so that no user closes the conversations of another. */
  readonly user?: string | ((call: Call) => string | undefined)
  /** All calls belong to this session. The host closes it. */
  readonly session?: Session
  /**
   * Maximum number of open conversations. Closes the least recently used one of the user who has the most. Without a store it is
   * forgotten, and its next call imports the whole history again. Default: 100.
   */
  readonly maxConversations?: number
}

/** Part of the result of every `everlong()`, next to the parts for the SDK. */
export type AdapterSessions = {
  /**
   * The session of a conversation, by the id that calls name. One that no call has opened, as after a restart, is opened from
   * the store; the next call of the conversation closes it again and continues with a session of its own, so keep the id and
   * not the object. Throws a StoreError: with the reason `missing` if there is none, `held` if another process has it.
   *
   *     const session = await managed.session(chatId)
   *     await session.undo()
   */
  readonly session: (id: string) => Promise<Session>
  /** The open sessions, the most recently used one last. */
  readonly sessions: () => readonly Session[]
  /** Closes the sessions that were opened here. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export type SessionsParts<Foreign> = {
  readonly converter: Converter<Foreign>
  /** A sentence about how a call names its conversation. */
  readonly howToName: string
  /** Writes the summaries of a session that was opened without a call. Default: none, so it cannot compact. */
  readonly client?: ModelClient | undefined
  /** Shared by the message shapes of one SDK. */
  readonly stored?: StoredById | undefined
}

type OpenHistory<Foreign> = {
  readonly id: string | undefined
  readonly user: string | undefined
  readonly history: ManagedHistory<Foreign>
}

const defaultMaxConversations = 100
/** Number of messages that stay verbatim by default, so that an agent in the middle of its work sees its last steps. */
const defaultKeep = 4

export function adapterSessions<Foreign, Host>(
  options: AdapterOptions<Host>,
  { converter, howToName, client: own, stored = storedById(options, own) }: SessionsParts<Foreign>,
): { readonly historyOf: HistoryOf<Foreign, Host>; readonly sessions: AdapterSessions; readonly find: FindSession } {
  const { session, sessionId, user, maxConversations = defaultMaxConversations, ...shared } = options
  const { store } = shared
  const engineFor = enginesByModel(shared)
  const queues = createQueues()
  let held: readonly OpenHistory<Foreign>[] = session
    ? [{ id: undefined, user: undefined, history: new ManagedHistory({ converter, session }) }]
    : []
  const onImported = tellImported(shared)

  const heldFor = (messages: readonly Foreign[], id: string | undefined) => {
    if (session) return held[0]
    if (id !== undefined) return held.find((one) => one.id === id)
    return held.findLast((one) => one.id === undefined && one.history.isContinuedBy(messages))
  }
  const open = async (id: string | undefined, call: AdapterCall<Foreign, Host>): Promise<Session> => {
    if (store && !id) {
      throw new TypeError(
        `everlong: this call names no conversation, and sessions in a store need a name. ${howToName}`,
      )
    }
    const client = call.client()
    const model = call.model ?? client.model
    const engine = engineFor(client, { ...call, model })
    const whose = defined({ user: valueFor(user, call.host) })
    const opened =
      store && id ? await engine.open(id, { model, ifMissing: 'start', ...whose }) : await engine.start({ model })
    // A client may know the conversation whose cache it shares.
    if (engine.model !== client) await opened.useModel({ client, name: model })
    return opened
  }
  const create = (id: string | undefined, call: AdapterCall<Foreign, Host>): Promise<OpenHistory<Foreign>> =>
    stored.takeOver(id, async () => {
      const restart = () => open(id, call)
      const history = new ManagedHistory({ converter, session: await restart(), restart, onImported })
      const created = { id, user: valueFor(user, call.host), history }
      held = [...held, created]
      return created
    })
  const find: FindSession = (id) =>
    (held.find((one) => one.id === id) ?? held.find(({ history }) => history.session.id === id))?.history.session
  const close = async () => {
    if (session) return
    await queues.settled()
    await stored.close()
    for (const { history } of held) await history.close()
    held = []
  }
  return {
    // One at a time per user, so that two first calls with the same id get the same session and do not delay other users.
    historyOf: (call) =>
      queues.run(valueFor(user, call.host), async () => {
        const id = sessionId === undefined ? call.id : valueFor(sessionId, call.host)
        const found = heldFor(call.messages, id) ?? (await create(id, call))
        found.history.claim(call.messages)
        held = [...held.filter((one) => one !== found), found]
        const evicted = evictedFrom(held, maxConversations)
        held = held.filter((one) => !evicted.includes(one))
        for (const { history } of evicted) await history.close()
        return found.history
      }),
    find,
    sessions: {
      session: (id) => stored.session(id, find),
      sessions: () => [...stored.sessions(), ...held.map(({ history }) => history.session)],
      close,
      [Symbol.asyncDispose]: close,
    },
  }
}

/** The session that a call has opened. */
type FindSession = (id: string) => Session | undefined

/** Sessions that were opened by id, without a call. */
export type StoredById = {
  /** The session that a call has opened, otherwise the stored one. */
  readonly session: (id: string, find: FindSession) => Promise<Session>
  readonly sessions: () => readonly Session[]
  /** Closes the session of this id, and opens it for a call. */
  readonly takeOver: <T>(id: string | undefined, open: () => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export function storedById<Host>(options: AdapterOptions<Host>, client: ModelClient = noModelYet): StoredById {
  const { session: _, sessionId: __, user: ___, maxConversations = defaultMaxConversations, ...shared } = options
  const { store } = shared
  const engineFor = enginesByModel(shared)
  // For each id, one session is opened or closed at a time.
  const queues = createQueues()
  const opened = new Map<string, Session>()
  const open = async (id: string): Promise<Session> => {
    if (!store) throw notNamedYet(id, 'and everlong() has no store to open it from')
    const model = (await lastModel(store, id)) ?? client.model
    const engine = engineFor(client, { model, asksCalled: client === noModelYet })
    const session = await engine.open(id, { model }).catch((error: unknown) => {
      throw error instanceof StoreError && error.reason === 'missing'
        ? notNamedYet(id, 'and the store has none')
        : error
    })
    const own = withClose(session, () => opened.delete(id))
    opened.set(id, own)
    const [oldest] = opened.values()
    if (oldest && opened.size > Math.max(1, maxConversations)) await oldest.close()
    return own
  }
  return {
    session: async (id, find) => {
      requireText(id, 'session() needs the id of a conversation')
      return queues.run(id, async () => find(id) ?? opened.get(id) ?? open(id))
    },
    sessions: () => [...opened.values()],
    takeOver: (id, openForCall) =>
      id === undefined
        ? openForCall()
        : queues.run(id, async () => {
            await opened.get(id)?.close()
            return openForCall()
          }),
    close: async () => {
      await queues.settled()
      for (const session of opened.values()) await session.close()
    },
  }
}

function notNamedYet(id: string, why: string): StoreError {
  return new StoreError(`No call has named the conversation ${id} so far, ${why}.`, { reason: 'missing' })
}

/** The model of the newest answer. Its window counts, not the summarizer's. */
async function lastModel(store: SessionStore, id: string): Promise<string | undefined> {
  let model: string | undefined
  for await (const { record } of store.records(id)) model = stringAt(objectAt(record, 'message'), 'model') ?? model
  return model
}

/** The same session, with a callback when it is closed. */
export function withClose(session: Session, onClose: () => void): Session {
  const close = () => {
    onClose()
    return session.close()
  }
  return { ...session, close }
}

/** For a session that no call has opened, if everlong() got no model: everything works except a summary. */
const noModelYet: ModelClient = {
  provider: 'none',
  model: '',
  capabilities: () => noCapabilities,
  send: async () => ({
    type: 'failed',
    reason: 'refused',
    message:
      'No call has shown the model of this conversation yet, so nobody can write a summary. Pass `model` to everlong().',
    tries: 0,
  }),
}

/** Reports the cost of a history that no session knew. */
function tellImported({ onEvent, store }: Pick<SharedOptions, 'onEvent' | 'store'>): (imported: Imported) => void {
  return ({ session, messages }) => {
    const { size, model = '' } = session.explain()
    const cost = costOf({ ...noTokens, input: size.tokens }, model)
    const told = { messages, tokens: size.tokens, hasStore: store !== undefined, ...defined({ cost }) }
    callNow(
      () => onEvent?.({ type: 'history-imported', sessionId: session.id, ...told }),
      () => undefined,
    )
  }
}

/** The least recently used conversation of the user with the most, repeatedly until few enough are left. Never the newest. */
function evictedFrom<One extends { readonly user: string | undefined }>(
  held: readonly One[],
  max: number,
): readonly One[] {
  const left = [...held]
  const evicted: One[] = []
  while (left.length > Math.max(1, max)) {
    const counts = new Map<string | undefined, number>()
    for (const { user } of left) counts.set(user, (counts.get(user) ?? 0) + 1)
    const most = Math.max(...counts.values())
    const at = left.findIndex((one, nth) => counts.get(one.user) === most && nth < left.length - 1)
    evicted.push(...left.splice(at, 1))
  }
  return evicted
}

/** A queue per key, for as long as something waits in it. */
function createQueues() {
  const queues = new Map<string | undefined, ReturnType<typeof createMutex>>()
  return {
    run: async <T>(key: string | undefined, task: () => Promise<T>): Promise<T> => {
      const queue = queues.get(key) ?? createMutex(() => undefined)
      queues.set(key, queue)
      try {
        return await queue.run(task)
      } finally {
        if (!queue.isBusy()) queues.delete(key)
      }
    },
    settled: async (): Promise<void> => {
      for (const queue of queues.values()) await queue.run(async () => undefined)
    },
  }
}

type AdapterPart = { readonly sessions: AdapterSessions; readonly find: FindSession }

/** For an SDK with two shapes of messages, which share `stored`. */
export function joinedSessions(one: AdapterPart, other: AdapterPart, stored: StoredById): AdapterSessions {
  const close = async () => {
    await one.sessions.close()
    await other.sessions.close()
  }
  return {
    session: (id) => stored.session(id, (own) => one.find(own) ?? other.find(own)),
    sessions: () => [...new Set([...one.sessions.sessions(), ...other.sessions.sessions()])],
    close,
    [Symbol.asyncDispose]: close,
  }
}

function valueFor<Host>(
  given: string | ((host: Host) => string | undefined) | undefined,
  host: Host,
): string | undefined {
  return typeof given === 'function' ? given(host) : given
}

type SharedOptions = Pick<AdapterOptions<never>, 'createEngine' | 'store'> & Omit<EngineOptions, 'model'>
type SessionStart = Pick<AdapterCall<never, never>, 'model' | 'asksCalled' | 'hasMarks' | 'sharesCache'>

/** One engine per model, because all conversations share what is learned about a model. */
function enginesByModel({ createEngine: create = createEngine, ...shared }: SharedOptions) {
  const engines = new Map<string, Engine>()
  const created = (client: ModelClient, { asksCalled, hasMarks, sharesCache = true }: SessionStart) => {
    const settings = {
      keep: defaultKeep,
      ...(hasMarks ? { cacheMarks: false as const } : {}),
      ...shared.settings,
      summary: {
        // Otherwise the client would be asked for a summary under the name of the called model.
        ...(asksCalled ? {} : { model: client.model }),
        ...(sharesCache ? {} : { shareCache: false }),
        ...shared.settings?.summary,
      },
    }
    return create({ ...shared, settings, model: client })
  }
  return (client: ModelClient, starting: SessionStart) => {
    const { model, hasMarks, sharesCache } = starting
    const name = JSON.stringify([client.provider, client.model, model, hasMarks, sharesCache])
    const engine = engines.get(name) ?? created(client, starting)
    engines.set(name, engine)
    return engine
  }
}
