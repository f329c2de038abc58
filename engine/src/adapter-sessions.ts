// What the adapters' entries share: the options that say which session a call belongs to, and how one is started.
import type { ModelClient } from './core/ports/model.ts'
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

export type StartOptions = {
  readonly id: string | undefined
  /** The host sets marks for the prompt cache itself. */
  readonly hasMarks?: boolean
  /** Whether a summary can be asked for in a way that reads the conversation's cache: yes unless said. */
  readonly sharesCache?: boolean
  /** The model that is called, if the client asks another one for summaries. */
  readonly model?: string | undefined
}

export type StartSession = (client: ModelClient, how: StartOptions) => Promise<EngineSession>

/** The newest messages stay verbatim, so that an agent in the middle of its work sees what it just did. */
export const newest = 4

export function sessionStarter<Call>(options: AdapterOptions<Call>): StartSession {
  const { session: _, sessionId: __, mostConversations: ___, open, ...engine } = options
  /** One for each model, because what is learned about a model is learned for all conversations. */
  const engines = new Map<string, Engine>()
  const engineFor = (forEngine: EngineOptions, how: string): Engine => {
    const name = `${forEngine.model.provider} ${forEngine.model.model} ${how}`
    const known = engines.get(name) ?? createEngine(forEngine)
    engines.set(name, known)
    return known
  }
  return async (client, { id, hasMarks = false, sharesCache = true, model = client.model }) => {
    const settings = {
      keep: newest,
      ...(hasMarks ? { cacheMarks: false as const } : {}),
      ...engine.settings,
      summary: {
        ...(model === client.model ? {} : { model: client.model }),
        ...(sharesCache ? {} : { shareCache: false }),
        ...engine.settings?.summary,
      },
    }
    const forEngine = { ...engine, settings, model: client }
    const started = await (open ? open(forEngine, id) : engineFor(forEngine, `${hasMarks} ${model}`).start())
    // The window is that of the model that is called, and the client may know the conversation whose cache it shares.
    if (!open || model !== client.model) await started.useModel({ client, name: model })
    return started
  }
}
