// everlong/openai-agents: endless conversations for the OpenAI Agents SDK, as an input filter and as a session.
import { type AdapterOptions, type AdapterSessions, adapterSessions } from './adapter-sessions.ts'
import { groupItems, type ItemGroup, itemConverter } from './adapters/openai/items.ts'
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

export { HistoryMismatchError } from './adapters/history/managed-history.ts'
export type { AgentsCall } from './adapters/openai-agents/input-filter.ts'

/** Without `sessionId`, a call belongs to the conversation that its items continue. */
export type OpenAIAgentsOptions = AdapterOptions<AgentsCall> & {
  /** Writes the summaries: `openai({ model })` of everlong/openai, or any other client. */
  readonly model: ModelClient
}

export type OpenAIAgents = AdapterSessions & {
  /**
   * For `new Agent({ model })`: each call is reduced, measured by its reported usage, and repeated after an overflow. `name` is
   * the model's name, which decides the window. Without it, the first call uses the window of the summarizing model, and later
   * calls the name in its answers.
   */
  readonly wrapModel: <Inner extends AgentsModel>(inner: Inner, name?: string) => Inner
  /** For `run(agent, input, { session })`: a session of the SDK that stays small. A compaction replaces its items. */
  readonly wrapSession: <Store extends AgentsSession>(store: Store) => CompactingSession<Store>
  /** For `run(agent, input, { callModelInputFilter })` if the model cannot be wrapped: each call is reduced. */
  readonly callModelInputFilter: AgentsFilter
}

export function everlong({ model: client, ...options }: OpenAIAgentsOptions): OpenAIAgents {
  const { historyOf, sessions } = adapterSessions<ItemGroup<AgentItem>, AgentsCall>(options, {
    converter: itemConverter<AgentItem>('agents'),
    client,
    howToName: 'Pass `sessionId` to everlong(): a string, or a function of the call.',
  })
  let newest = client.model
  const parts: AgentsParts = {
    conversation: async (call, name = newest) => {
      newest = name
      const groups = groupItems(call.items)
      const history = await historyOf({ host: call, messages: groups, client: () => client, model: name })
      return { groups, history, model: { client, name } }
    },
  }
  return {
    wrapModel: (inner, name) => managedModel(inner, { ...parts, name }),
    wrapSession: (store) => compactingSession(store, { ...parts, newId: () => crypto.randomUUID() }),
    callModelInputFilter: createInputFilter(parts),
    ...sessions,
  }
}
