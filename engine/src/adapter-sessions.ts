// The sessions of an adapter: which conversation a call belongs to, and how its session is started or opened. A call belongs
// to the session or the id that the host names. Otherwise it belongs to the conversation that its messages continue, and any
// other history gets a session of its own, so that two people who begin alike never share one.
import type { Converter } from './adapters/history/converter.ts'
import { type AdapterCall, type HistoryOf, ManagedHistory } from './adapters/history/managed-history.ts'
import { defined } from './core/message/json.ts'
import type { ModelClient } from './core/ports/model.ts'
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
  /** Whose session it is, for erasure from the store. */
  readonly user?: string | ((call: Call) => string | undefined)
  /** All calls belong to this session. The host closes it. */
  readonly session?: Session
  /** Conversations that are open at the same time. The least recently used one is closed. Default 100. */
  readonly maxConversations?: number
}

/** What every `everlong()` returns next to the parts that the SDK takes. */
export type AdapterSessions = {
  /** The open session of a conversation, by the id that calls name; undefined if no call has named it yet. */
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

type Held<Foreign> = { readonly id: string | undefined; readonly history: ManagedHistory<Foreign> }

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
  const mutex = createMutex(() => undefined)
  let held: readonly Held<Foreign>[] = session
    ? [{ id: undefined, history: new ManagedHistory({ converter, session }) }]
    : []

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
    return { id, history: new ManagedHistory({ converter, session: await restart(), restart }) }
  }
  const sessions = () => held.map(({ history }) => history.session)
  const close = () =>
    mutex.run(async () => {
      if (session) return
      for (const { history } of held) await history.close()
      held = []
    })
  return {
    // One at a time, so that two first calls with the same id get the same session.
    historyOf: (call) =>
      mutex.run(async () => {
        const id = sessionId === undefined ? call.id : valueFor(sessionId, call.host)
        const found = find(call.messages, id) ?? (await create(id, call))
        found.history.claim(call.messages)
        const others = held.filter((one) => one !== found)
        const evicted = others.slice(0, Math.max(0, others.length + 1 - maxConversations))
        held = [...others.slice(evicted.length), found]
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
