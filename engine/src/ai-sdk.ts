// everlong/ai-sdk: endless conversations for the Vercel AI SDK, as a middleware for any language model or as a prepareStep.
import { aiConversations, type Starting } from './adapters/ai-sdk/conversations.ts'
import { createMiddleware } from './adapters/ai-sdk/middleware.ts'
import { createPrepareStep, type PrepareStep, type Step } from './adapters/ai-sdk/prepare-step.ts'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Middleware,
} from './adapters/ai-sdk/shapes.ts'
import { stringAt } from './core/message/json.ts'
import type { ModelClient } from './core/ports/model.ts'
import { createEngine, type Engine, type EngineOptions, type EngineSession } from './engine.ts'

export type { PrepareStep, Step } from './adapters/ai-sdk/prepare-step.ts'
export { HistoryMismatchError } from './adapters/history/managed-history.ts'

/** What is known of a call when its conversation is looked for. */
export type AiSdkCall = Pick<LanguageModelV4CallOptions, 'prompt' | 'providerOptions' | 'headers'> | Step

export type AiSdkOptions = Omit<EngineOptions, 'model'> & {
  /** Writes the summaries: a model of the AI SDK or a client of Everlong. Default: the model that is called. */
  readonly model?: LanguageModelV4 | ModelClient
  /** All calls belong to this session. The host closes it. */
  readonly session?: EngineSession
  /**
   * The conversation of a call. Default: `providerOptions.everlong.sessionId`, and without it the conversation that the
   * messages continue. Servers should say it: then a user who edits a message keeps the session.
   */
  readonly sessionId?: string | ((call: AiSdkCall) => string | undefined)
  /**
   * Opens the session of an id: with the createEngine of everlong/node and these options, on disk. Default: a new one in
   * memory.
   */
  readonly open?: (options: EngineOptions, id: string | undefined) => Promise<EngineSession>
  /** Conversations that are held at the same time: 100 unless said. */
  readonly mostConversations?: number
}

export type AiSdk = {
  /** For `wrapLanguageModel({ model, middleware })`. Use this or `prepareStep`, not both. */
  readonly middleware: LanguageModelV4Middleware
  /** For `generateText`, `streamText` and agents. An overflow that the provider reports is not recovered here. */
  readonly prepareStep: PrepareStep
  /** In order of use, the newest last. */
  readonly sessions: () => readonly EngineSession[]
  /** Closes all sessions that were opened here. */
  readonly close: () => Promise<void>
}

/** The newest messages stay verbatim, so that an agent in the middle of its work sees what it just did. */
const newest = 4

export function everlong(options: AiSdkOptions = {}): AiSdk {
  const { model, session, sessionId, open, mostConversations: most, ...engine } = options
  /** One for each model, because what is learned about a model is learned for all conversations. */
  const engines = new Map<string, Engine>()
  const start = async (client: ModelClient, { id, hasMarks }: Starting) => {
    const name = `${client.provider} ${client.model} ${hasMarks}`
    const settings = { keep: newest, ...(hasMarks ? { cacheMarks: false as const } : {}), ...engine.settings }
    const forEngine = { ...engine, settings, model: client }
    if (open) return open(forEngine, id)
    const own = engines.get(name) ?? createEngine(forEngine)
    engines.set(name, own)
    const started = await own.start()
    // The client knows the conversation whose cache it shares.
    if (own.model !== client) await started.useModel({ client, name: client.model })
    return started
  }
  const shared = { model, session, start, most }
  const prompts = aiConversations({ ...shared, files: 'tagged' })
  const steps = aiConversations({ ...shared, files: 'bare' })
  const idOf = (call: AiSdkCall) => (typeof sessionId === 'function' ? sessionId(call) : (sessionId ?? namedIn(call)))
  return {
    middleware: createMiddleware({ conversations: prompts, idOf }),
    prepareStep: createPrepareStep({ conversations: steps, idOf }),
    sessions: () => [...prompts.all(), ...steps.all()].map((history) => history.session as EngineSession),
    close: async () => {
      await prompts.close()
      await steps.close()
    },
  }
}

function namedIn(call: AiSdkCall): string | undefined {
  return 'providerOptions' in call ? stringAt(call.providerOptions?.everlong, 'sessionId') : undefined
}
