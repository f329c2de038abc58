// The input filter for runs of the OpenAI Agents SDK: it reduces what each model call carries. It keeps the identity of the
// items that it leaves alone, because the SDK stores those of a run by it.
import type { AgentInputItem, CallModelInputFilter } from '@openai/agents'
import { defined, isObject } from '../../core/message/json.ts'
import type { CallOptions, ManagedHistory } from '../history/managed-history.ts'
import { groupItems, type ItemGroup } from '../openai/items.ts'
import { toolDefinition } from '../parts.ts'

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

function baseOf({ tools }: { readonly tools?: unknown }, system: string | undefined): NonNullable<CallOptions['base']> {
  return { ...defined({ system }), ...definitionsOf(Array.isArray(tools) ? tools : []) }
}

export function definitionsOf(tools: readonly unknown[]): Pick<NonNullable<CallOptions['base']>, 'tools'> {
  const named = tools.filter(isObject).filter(({ name }) => typeof name === 'string')
  return named.length === 0 ? {} : { tools: named.map((tool) => toolDefinition(tool, tool.parameters)) }
}
