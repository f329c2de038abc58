// The sessions of an adapter: which conversation a call belongs to, and how its session is started or opened. A call belongs
// to the session or the id that the host names. Otherwise it belongs to the conversation that its messages continue, and any
// other history gets a session of its own, so that two people who begin alike never share one.
import type { Converter } from './adapters/history/converter.ts'
import { type AdapterCall, type HistoryOf, type Imported, ManagedHistory } from './adapters/history/managed-history.ts'
import { costOf } from './core/cache/economics.ts'
import { defined } from './core/message/json.ts'
import { noTokens } from './core/message/usage.ts'
import type { ModelClient } from './core/ports/model.ts'
import { callNow } from './core/ports/safely.ts'
import type { SessionStore } from './core/ports/session-store.ts'
import { createMutex } from './core/session/queue.ts'
import type { Session } from './core/session/session-api.ts'
import { createEngine, type Engine, type EngineOptions } from './engine.ts'

/** The options of every `everlong()`: those of `createEngine`, and which session a call belongs to. */
export type AdapterOptions<Call> = Omit<EngineOptions, 'model'> & {
  /**
   * Keeps the sessions, by the ids of their conversations: a call that names no conversation is refused. Default: sessions
   * in memory, until they are closed.
   */
  readonly store?: SessionStore
  /**
   * Makes the engine of each model. That of everlong/node adds files and git of the working directory, and in a folder
   * notes and large results next to the transcript. Default: that of everlong.
   */
  readonly createEngine?: (options: EngineOptions & { readonly store?: SessionStore }) => Engine
  /** The conversation of a call, for all calls or by a function. Default: as the SDK's call names it. */
  readonly sessionId?: string | ((call: Call) => string | undefined)
  /** Whose session it is: for erasure from the store, and so that no user closes the conversations of another. */
  readonly user?: string | ((call: Call) => string | undefined)
  /** All calls belong to this session. The host closes it. */
  readonly session?: Session
  /**
   * Conversations that are open at the same time. Of the user who has the most, the least recently used one is closed. Without a
   * store it is forgotten, and its next call imports the whole history again. Default 100.
   */
  readonly maxConversations?: number
}

/** What every `everlong()` returns next to the parts that the SDK takes. */
export type AdapterSessions = {
  /**
   * The open session of a conversation, by the id that calls name; undefined if no call has named it so far.
   * A stored session that is not open is read with `createEngine({ model, store }).read(id)`.
   */
  readonly session: (id: string) => Session | undefined
  /** The open sessions, the most recently used one last. */
  readonly sessions: () => readonly Session[]
  /** Closes the sessions that were opened here. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export type SessionsParts<Foreign> = {
  readonly converter: Converter<Foreign>
  /** A sentence that says how a call names its conversation. */
  readonly howToName: string
}

type Held<Foreign> = {
  readonly id: string | undefined
  readonly user: string | undefined
  readonly history: ManagedHistory<Foreign>
}

const defaultMaxConversations = 100
/** Messages that stay verbatim by default, so that an agent in the middle of its work sees what it just did. */
const defaultKeep = 4

export function adapterSessions<Foreign, Host>(
  options: AdapterOptions<Host>,
  { converter, howToName }: SessionsParts<Foreign>,
): { readonly historyOf: HistoryOf<Foreign, Host>; readonly sessions: AdapterSessions } {
  const { session, sessionId, user, maxConversations = defaultMaxConversations, ...shared } = options
  const { store } = shared
  const engineFor = enginesByModel(shared)
  const queues = queuesByUser()
  let held: readonly Held<Foreign>[] = session
    ? [{ id: undefined, user: undefined, history: new ManagedHistory({ converter, session }) }]
    : []
  const onImported = tellImported(shared)

  const find = (messages: readonly Foreign[], id: string | undefined) => {
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
  const create = async (id: string | undefined, call: AdapterCall<Foreign, Host>): Promise<Held<Foreign>> => {
    const restart = () => open(id, call)
    const history = new ManagedHistory({ converter, session: await restart(), restart, onImported })
    return { id, user: valueFor(user, call.host), history }
  }
  const sessions = () => held.map(({ history }) => history.session)
  const close = async () => {
    if (session) return
    await queues.settled()
    for (const { history } of held) await history.close()
    held = []
  }
  return {
    // One at a time for each user, so that two first calls with the same id get the same session and nobody waits for others.
    historyOf: (call) =>
      queues.run(valueFor(user, call.host), async () => {
        const id = sessionId === undefined ? call.id : valueFor(sessionId, call.host)
        const found = find(call.messages, id) ?? (await create(id, call))
        found.history.claim(call.messages)
        held = [...held.filter((one) => one !== found), found]
        const evicted = evictedFrom(held, maxConversations)
        held = held.filter((one) => !evicted.includes(one))
        for (const { history } of evicted) await history.close()
        return found.history
      }),
    sessions: {
      session: (id) => {
        const named = held.find((one) => one.id === id)?.history.session
        return named ?? sessions().find((own) => own.id === id)
      },
      sessions,
      close,
      [Symbol.asyncDispose]: close,
    },
  }
}

/** What it costs that no session knew the history. */
function tellImported({ onEvent, store }: Pick<Shared, 'onEvent' | 'store'>): (imported: Imported) => void {
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

/** Of the user with the most conversations, the least recently used one, until few enough are left; never the newest. */
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

/** A queue for each user, for as long as something waits in it. */
function queuesByUser() {
  const queues = new Map<string | undefined, ReturnType<typeof createMutex>>()
  return {
    run: async <T>(user: string | undefined, task: () => Promise<T>): Promise<T> => {
      const queue = queues.get(user) ?? createMutex(() => undefined)
      queues.set(user, queue)
      try {
        return await queue.run(task)
      } finally {
        if (!queue.isBusy()) queues.delete(user)
      }
    },
    settled: async (): Promise<void> => {
      for (const queue of queues.values()) await queue.run(async () => undefined)
    },
  }
}

/** For an SDK with two shapes of messages. */
export function joinedSessions(one: AdapterSessions, other: AdapterSessions): AdapterSessions {
  const close = async () => {
    await one.close()
    await other.close()
  }
  return {
    session: (id) => one.session(id) ?? other.session(id),
    sessions: () => [...one.sessions(), ...other.sessions()],
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

type Shared = Pick<AdapterOptions<never>, 'createEngine' | 'store'> & Omit<EngineOptions, 'model'>
type Starting = Pick<AdapterCall<never, never>, 'model' | 'asksCalled' | 'hasMarks' | 'sharesCache'>

/** One engine for each model, because what is learned about a model is learned for all conversations. */
function enginesByModel({ createEngine: create = createEngine, ...shared }: Shared) {
  const engines = new Map<string, Engine>()
  const created = (client: ModelClient, { asksCalled, hasMarks, sharesCache = true }: Starting) => {
    const settings = {
      keep: defaultKeep,
      ...(hasMarks ? { cacheMarks: false as const } : {}),
      ...shared.settings,
      summary: {
        // Otherwise the client would be asked for a summary under the name of the model that is called.
        ...(asksCalled ? {} : { model: client.model }),
        ...(sharesCache ? {} : { shareCache: false }),
        ...shared.settings?.summary,
      },
    }
    return create({ ...shared, settings, model: client })
  }
  return (client: ModelClient, starting: Starting) => {
    const { model, hasMarks, sharesCache } = starting
    const name = JSON.stringify([client.provider, client.model, model, hasMarks, sharesCache])
    const engine = engines.get(name) ?? created(client, starting)
    engines.set(name, engine)
    return engine
  }
}
