// The conversations of everlong/anthropic, everlong/langchain, everlong/openai and everlong/openai-agents: one client writes
// the summaries, and each session starts with the model of its first call.
import { type AdapterOptions, newest } from './adapter-sessions.ts'
import { type Conversations, createConversations } from './adapters/history/conversations.ts'
import type { Converter } from './adapters/history/converter.ts'
import type { ManagedHistory } from './adapters/history/managed-history.ts'
import type { ModelClient } from './core/ports/model.ts'
import { createEngine } from './engine.ts'

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

/** `model` writes the summaries. */
export function adapterSessions<Foreign, Call>(
  options: AdapterOptions<Call>,
  { model, converter }: { readonly model: ModelClient; readonly converter: Converter<Foreign> },
): AdapterSessions<Foreign, Call> {
  const { session, sessionId, open, mostConversations: most, ...rest } = options
  const engineOptions = { ...rest, settings: { keep: newest, ...rest.settings }, model }
  const engine = createEngine(engineOptions)
  const startFor = (name: string | undefined) => (id: string | undefined) =>
    open ? open(engineOptions, id) : engine.start(name === undefined ? {} : { model: name })
  const conversations = createConversations({ converter, session, start: startFor(undefined), most })
  const idOf = (call: Call) => (typeof sessionId === 'function' ? sessionId(call) : sessionId)
  return {
    conversations,
    historyOf: ({ call, messages, model: name }) => conversations.of(messages, idOf(call), startFor(name)),
  }
}
