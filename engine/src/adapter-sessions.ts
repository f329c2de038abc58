// What the adapters' entries share: the options that say which session a call belongs to, and how one is started.
import { createConversations, type HistoryOf, type Starting } from './adapters/history/conversations.ts'
import type { Converter } from './adapters/history/converter.ts'
import { createEngine, type Engine, type EngineOptions, type EngineSession } from './engine.ts'

export type AdapterOptions<Call> = Omit<EngineOptions, 'model'> & {
  /** All calls belong to this session. The host closes it. */
  readonly session?: EngineSession
  /**
   * The conversation of a call. Without it, the conversation that the messages continue. Servers should say it: then a
   * user who edits a message keeps the session.
   */
  readonly sessionId?: string | ((call: Call) => string | undefined)
  /**
   * Opens the session of an id: with the createEngine of everlong/node and these options, on disk. Default: a new one in
   * memory.
   */
  readonly open?: (options: EngineOptions, id: string | undefined) => Promise<EngineSession>
  /** Conversations that are held at the same time: 100 unless said. */
  readonly mostConversations?: number
}

/** The newest messages stay verbatim, so that an agent in the middle of its work sees what it just did. */
const newest = 4

export type AdapterSessions<Foreign, Call> = {
  readonly historyOf: HistoryOf<Foreign, Call>
  /** In order of use, the newest last. */
  readonly sessions: () => readonly EngineSession[]
  /** Closes all sessions that were opened here. */
  readonly close: () => Promise<void>
}

export function adapterSessions<Foreign, Call>(
  { session, sessionId, mostConversations: most, open, ...engine }: AdapterOptions<Call>,
  converter: Converter<Foreign>,
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
  const conversations = createConversations({ converter, session, start, most })
  return {
    historyOf: (call, messages, starting) => conversations.of(messages, idOf(call), starting),
    sessions: () => conversations.all().map((history) => history.session as EngineSession),
    close: conversations.close,
  }
}
