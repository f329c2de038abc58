// The input filter for runs of the OpenAI Agents SDK: reduces the input of each model call. Unchanged items stay the same
// objects, because the SDK uses their identity to store the items of a run.
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
  /** Id of the SDK's session, in calls from `wrapSession`. */
  readonly sessionId?: string
  /** The context of the run, in calls from `callModelInputFilter`. */
  readonly context?: unknown
}

export type AgentsParts = {
  /** The conversation of a call. Without a model's name, the last called model counts. */
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

/** Undefined if the agent leaves the model to the runner. */
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
