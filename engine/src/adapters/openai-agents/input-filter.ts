// The input filter for runs of the OpenAI Agents SDK: it reduces what each model call carries. It keeps the identity of the
// items that it leaves alone, because the SDK stores those of a run by it.
import type { AgentInputItem, CallModelInputFilter } from '@openai/agents'
import { defined, isObject } from '../../core/message/json.ts'
import type { CallOptions, ManagedHistory } from '../history/managed-history.ts'
import type { ItemGroup } from '../openai/items.ts'
import { toolDefinition } from '../parts.ts'

export type AgentItem = AgentInputItem
export type AgentsFilter = CallModelInputFilter

/** The parts of a call that `sessionId` can look at. */
export type AgentsCall = {
  readonly items: readonly AgentItem[]
  /** Of the SDK's session, in calls from `wrapSession`. */
  readonly sessionId?: string
  /** The context of the run, in calls from `callModelInputFilter`. */
  readonly context?: unknown
}

export type AgentsParts = {
  /** The conversation of a call. Without the name of a model, the one that was called last counts. */
  readonly conversation: (
    call: AgentsCall,
    modelName?: string | undefined,
  ) => Promise<{
    readonly groups: readonly ItemGroup<AgentItem>[]
    readonly history: ManagedHistory<ItemGroup<AgentItem>>
    readonly model: NonNullable<CallOptions['model']>
  }>
}

export function createInputFilter({ conversation }: AgentsParts): AgentsFilter {
  const filter: AgentsFilter = async ({ modelData, agent, context }) => {
    const { input: items, instructions } = modelData
    if (items.length === 0) return modelData
    const { groups, history, model } = await conversation({ items, context }, modelNameOf(agent))
    const { messages } = await history.prepare(groups, { base: baseOf(agent, instructions), model })
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
