// What every adapter is told: where sessions come from, and which conversation a call belongs to.
import { type Conversations, createConversations } from './history/conversations.ts'
import type { Converter } from './history/converter.ts'
import type { AdapterSession } from './history/managed-history.ts'

/** The engine of everlong or everlong/node. */
export type AdapterEngine = { readonly start: () => Promise<AdapterSession> }

export type SessionChoice<Call> = {
  /** All calls belong to this session. */
  readonly session?: AdapterSession
  /** The conversation of a call. Left out: a call belongs to the conversation that it continues, else to a new one. */
  readonly sessionId?: (call: Call) => string | undefined
  /** Opens the session of an id, for example from disk. Left out: the engine starts a new one in memory. */
  readonly open?: (id: string) => Promise<AdapterSession>
}

export type AdapterOptions<Call> = SessionChoice<Call> & { readonly engine: AdapterEngine }

export function conversationsFor<Foreign, Call>(
  { engine, session, open }: AdapterOptions<Call>,
  converter: Converter<Foreign>,
): Conversations<Foreign> {
  const start = async (id: string | undefined) => (id !== undefined && open ? open(id) : engine.start())
  return createConversations({ converter, start, session })
}
