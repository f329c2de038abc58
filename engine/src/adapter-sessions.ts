// What the adapters of everlong/anthropic, everlong/langchain and everlong/openai-agents are told about sessions, and the
// conversations that follow from it.
import { type Conversations, createConversations } from './adapters/history/conversations.ts'
import type { Converter } from './adapters/history/converter.ts'
import type { ManagedHistory } from './adapters/history/managed-history.ts'
import type { ModelClient } from './core/ports/model.ts'
import { createEngine, type EngineOptions, type EngineSession } from './engine.ts'

export type AdapterOptions<Call> = Omit<EngineOptions, 'model'> & {
  /** All calls belong to this session. The host closes it. */
  readonly session?: EngineSession
  /**
   * The conversation of a call. Left out: the one whose messages the call continues, else a new one. Servers should say it:
   * then a user who edits a message keeps the session.
   */
  readonly sessionId?: string | ((call: Call) => string | undefined)
  /**
   * Opens the session of an id, for example with an engine of everlong/node that is made of these options. Left out: a new
   * one in memory.
   */
  readonly open?: (options: EngineOptions, id: string | undefined) => Promise<EngineSession>
  /** Conversations that are held at the same time: 100 unless said. */
  readonly mostConversations?: number
}

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

/** The newest messages stay verbatim, so that an agent in the middle of its work sees what it just did. */
const newest = 4

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
