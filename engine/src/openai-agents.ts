// everlong/openai-agents: endless conversations for the OpenAI Agents SDK, as an input filter and as a session.
import { adapterSessions, type UnnamedAdapterOptions } from './adapter-sessions.ts'
import { itemConverter } from './adapters/openai/items.ts'
import {
  type AgentItem,
  type AgentsCall,
  type AgentsFilter,
  type AgentsParts,
  createInputFilter,
} from './adapters/openai-agents/input-filter.ts'
import { type AgentsModel, managedModel } from './adapters/openai-agents/model.ts'
import { type AgentsSession, type CompactingSession, compactingSession } from './adapters/openai-agents/session.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { Session } from './core/session/session-api.ts'

export { HistoryMismatchError } from './adapters/history/managed-history.ts'
export type { AgentsCall } from './adapters/openai-agents/input-filter.ts'

export type OpenAIAgentsOptions = UnnamedAdapterOptions<AgentsCall> & {
  /** Writes the summaries: `openai({ model })` of everlong/openai, or any other client. */
  readonly model: ModelClient
}

export type OpenAIAgents = {
  /**
   * For `new Agent({ model })`: each call is reduced, measured by the usage it reports, and repeated after an overflow.
   * `name` is that of the model and decides the window. Without it, the first call counts by the model that writes the
   * summaries, and later ones by what its answers say.
   */
  readonly model: <Inner extends AgentsModel>(inner: Inner, name?: string) => Inner
  /** For `run(agent, input, { callModelInputFilter })` where the model cannot be wrapped: each call is reduced. */
  readonly callModelInputFilter: AgentsFilter
  /** A session of the SDK that stays small: after a compaction its items are replaced. */
  readonly session: <Store extends AgentsSession>(store: Store) => CompactingSession<Store>
  /** In order of use, the newest last. */
  readonly sessions: () => readonly Session[]
  readonly close: () => Promise<void>
}

export function everlong({ model, ...options }: OpenAIAgentsOptions): OpenAIAgents {
  const { historyOf, sessions, close } = adapterSessions(options, {
    converter: itemConverter<AgentItem>('agents'),
    howToName: 'Pass `sessionId` to everlong(): a string, or a function of the call.',
  })
  let newest = model.model
  const parts: AgentsParts = {
    historyOf: (call, messages, name = newest) => {
      newest = name
      return historyOf(call, messages, () => ({ client: model, model: name }))
    },
    modelFor: (name = newest) => (options.session ? undefined : { client: model, name }),
  }
  return {
    model: (inner, name) => managedModel(inner, { ...parts, name }),
    callModelInputFilter: createInputFilter(parts),
    session: (store) => compactingSession(store, { ...parts, newId: () => crypto.randomUUID() }),
    sessions,
    close,
  }
}
