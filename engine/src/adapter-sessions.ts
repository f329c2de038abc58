// What the adapters' entries share: the options that say which session a call belongs to, and how one is started.
import { createConversations, type HistoryOf, type Starting } from './adapters/history/conversations.ts'
import type { Converter } from './adapters/history/converter.ts'
import { createEngine, type Engine, type EngineOptions, type EngineSession } from './engine.ts'

/** Opens the session of an id, or starts it: with `createEngine({ ...options, store }).open(id, { ifMissing: 'start' })`. */
export type OpenSession = (options: EngineOptions, id: string) => Promise<EngineSession>

/** The conversation of a call. A server should name it: then a user who edits a message keeps the session. */
export type SessionId<Call> = string | ((call: Call) => string | undefined)

type CommonOptions = Omit<EngineOptions, 'model'> & {
  /** All calls belong to this session. The host closes it. */
  readonly session?: EngineSession
  /** Conversations that are held at the same time. Default 100. */
  readonly maxConversations?: number
}

/** For SDKs whose calls name their conversation. */
export type AdapterOptions<Call> = CommonOptions & {
  /** Default: as the SDK names it, or else the conversation that the messages continue. */
  readonly sessionId?: SessionId<Call>
  /** Default: a new session in memory. A call that names no conversation is refused. */
  readonly open?: OpenSession
}

/** For SDKs whose calls name no conversation: sessions that are opened by their ids need `sessionId`. */
export type UnnamedAdapterOptions<Call> = CommonOptions &
  (
    | {
        /** Default: the conversation that the messages continue. */
        readonly sessionId?: SessionId<Call>
        readonly open?: undefined
      }
    | {
        readonly sessionId: SessionId<Call>
        /** Default: a new session in memory. A call for which `sessionId` returns nothing is refused. */
        readonly open: OpenSession
      }
  )

/** The newest messages stay verbatim, so that an agent in the middle of its work sees what it just did. */
const newest = 4

export type AdapterSessions<Foreign, Call> = {
  readonly historyOf: HistoryOf<Foreign, Call>
  /** In order of use, the newest last. */
  readonly sessions: () => readonly EngineSession[]
  /** Closes all sessions that were opened here. */
  readonly close: () => Promise<void>
}

export type SessionsParts<Foreign> = {
  readonly converter: Converter<Foreign>
  /** A sentence that says how a call names its conversation. */
  readonly howToName: string
}

export function adapterSessions<Foreign, Call>(
  { session, sessionId, maxConversations, open, ...engine }: AdapterOptions<Call> | UnnamedAdapterOptions<Call>,
  { converter, howToName }: SessionsParts<Foreign>,
): AdapterSessions<Foreign, Call> {
  /** One for each model, because what is learned about a model is learned for all conversations. */
  const engines = new Map<string, Engine>()
  const start = async (id: string | undefined, starting: Starting): Promise<EngineSession> => {
    const { client, model, asksCalled = false, hasMarks = false, sharesCache = true } = starting
    const settings = {
      keep: newest,
      ...(hasMarks ? { cacheMarks: false as const } : {}),
      ...engine.settings,
      summary: {
        // Otherwise the client would be asked for a summary under the name of the model that is called.
        ...(asksCalled ? {} : { model: client.model }),
        ...(sharesCache ? {} : { shareCache: false }),
        ...engine.settings?.summary,
      },
    }
    const forEngine = { ...engine, settings, model: client }
    if (open) {
      if (!id) throw new TypeError(`everlong: this call names no conversation, so \`open\` gets no id. ${howToName}`)
      const opened = await open(forEngine, id)
      if (model !== client.model) await opened.useModel({ client, name: model })
      return opened
    }
    const name = JSON.stringify([client.provider, client.model, model, hasMarks, sharesCache])
    const known = engines.get(name) ?? createEngine(forEngine)
    engines.set(name, known)
    const started = await known.start({ model })
    // A client may know the conversation whose cache it shares.
    if (known.model !== client) await started.useModel({ client, name: model })
    return started
  }
  const idOf = (call: Call) => (typeof sessionId === 'function' ? sessionId(call) : sessionId)
  const conversations = createConversations({ converter, session, start, max: maxConversations })
  return {
    historyOf: (call, messages, starting) => conversations.of(messages, idOf(call), starting),
    sessions: () => conversations.all().map((history) => history.session as EngineSession),
    close: conversations.close,
  }
}
