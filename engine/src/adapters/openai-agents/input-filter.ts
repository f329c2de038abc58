// The input filter for runs of the OpenAI Agents SDK: it reduces what each model call carries. It keeps the identity of the
// items that it leaves alone, because the SDK stores those of a run by it.
import type { AgentInputItem, CallModelInputFilter } from '@openai/agents'
import { defined, isObject, type JsonObject, stringAt } from '../../core/message/json.ts'
import type { CallOptions, ManagedHistory } from '../history/managed-history.ts'
import { groupItems, type ItemGroup } from '../openai/items.ts'

export type AgentItem = AgentInputItem
export type AgentsFilter = CallModelInputFilter

/** What is known of a call when its conversation is looked for. */
export type AgentsCall = {
  readonly items: readonly AgentItem[]
  /** Of the stored history, where the call is about that. */
  readonly sessionId?: string
  /** The context of the run. */
  readonly context?: unknown
}

export type AgentsParts = {
  readonly historyOf: (
    call: AgentsCall,
    groups: readonly ItemGroup<AgentItem>[],
    model: string | undefined,
  ) => Promise<ManagedHistory<ItemGroup<AgentItem>>>
  /** The model of a call. Without a name, the one that was called last. */
  readonly modelFor: (name: string | undefined) => CallOptions['model']
}

export function createInputFilter({ historyOf, modelFor }: AgentsParts): AgentsFilter {
  const filter: AgentsFilter = async ({ modelData, agent, context }) => {
    const { input: items, instructions } = modelData
    if (items.length === 0) return modelData
    const groups = groupItems(items)
    const name = modelNameOf(agent)
    const history = await historyOf({ items, context }, groups, name)
    const { messages } = await history.prepare(groups, { base: baseOf(agent, instructions), model: modelFor(name) })
    return { ...modelData, input: messages.flat() }
  }
  return Object.assign(filter, { preserveInputIdentity: true })
}

/** Undefined where the agent leaves it to the runner. */
function modelNameOf({ model }: { readonly model?: unknown }): string | undefined {
  return typeof model === 'string' && model !== '' ? model : undefined
}

function baseOf(agent: object, instructions: string | undefined): NonNullable<CallOptions['base']> {
  const { tools } = agent as JsonObject
  const definitions = Array.isArray(tools) ? tools.filter(isObject).flatMap(definitionOf) : []
  return { ...defined({ system: instructions }), ...(definitions.length === 0 ? {} : { tools: definitions }) }
}

/** As providers are told about a tool: it counts for the size. */
export function definitionOf(tool: JsonObject): readonly object[] {
  const name = stringAt(tool, 'name')
  if (name === undefined) return []
  const description = stringAt(tool, 'description')
  return [
    {
      name,
      ...defined({ description }),
      input_schema: isObject(tool.parameters) ? tool.parameters : { type: 'object' },
    },
  ]
}
