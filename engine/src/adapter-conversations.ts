// The conversations of everlong/anthropic, everlong/langchain, everlong/openai and everlong/openai-agents: one client writes
// the summaries, and each session starts with the model of its first call.
import { type AdapterOptions, newest } from './adapter-sessions.ts'
import { type Conversations, createConversations } from './adapters/history/conversations.ts'
import type { Converter } from './adapters/history/converter.ts'
import type { ManagedHistory } from './adapters/history/managed-history.ts'
import type { ModelClient } from './core/ports/model.ts'
import { createEngine, type Engine, type EngineOptions } from './engine.ts'

export type HistoryOf<Foreign, Call> = (call: {
  readonly call: Call
  readonly messages: readonly Foreign[]
  /** The model that is called. */
  readonly model: string
}) => Promise<ManagedHistory<Foreign>>

export type AdapterSessions<Foreign, Call> = {
  readonly conversations: Conversations<Foreign>
  readonly historyOf: HistoryOf<Foreign, Call>
}

export type AdapterParts<Foreign> = {
  readonly converter: Converter<Foreign>
  /** Writes the summaries. */
  readonly model: ModelClient
  /** Whether it asks the model that is called, rather than one of its own. */
  readonly asksCalled?: boolean
}

export function adapterSessions<Foreign, Call>(
  options: AdapterOptions<Call>,
  { model, converter, asksCalled = false }: AdapterParts<Foreign>,
): AdapterSessions<Foreign, Call> {
  const { session, sessionId, open, mostConversations: most, ...rest } = options
  // Otherwise the client would be asked for a summary under the name of the model that is called.
  const summary = { ...(asksCalled ? {} : { model: model.model }), ...rest.settings?.summary }
  const forEngine: EngineOptions = { ...rest, settings: { keep: newest, ...rest.settings, summary }, model }
  /** One for each model that is called, because what is learned about a model is learned for all conversations. */
  const engines = new Map<string, Engine>()
  const startFor = (name: string) => async (id: string | undefined) => {
    if (open) {
      const opened = await open(forEngine, id)
      if (name !== model.model) await opened.useModel({ client: model, name })
      return opened
    }
    const engine = engines.get(name) ?? createEngine(forEngine)
    engines.set(name, engine)
    return engine.start({ model: name })
  }
  const conversations = createConversations({ converter, session, start: (id) => startFor(model.model)(id), most })
  const idOf = (call: Call) => (typeof sessionId === 'function' ? sessionId(call) : sessionId)
  return {
    conversations,
    historyOf: ({ call, messages, model: name }) => conversations.of(messages, idOf(call), startFor(name)),
  }
}
