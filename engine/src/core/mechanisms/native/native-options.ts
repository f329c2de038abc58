// Request options for the server's own context management, in the words of the Messages API. The history is sent as it
// is; the server leaves out what these options name.
import { blocksOf, isToolUse } from '../../message/block.ts'
import type { JsonObject } from '../../message/json.ts'
import type { View } from '../../transcript/view/fold.ts'
import type { RequestOptions, Situation } from '../mechanism.ts'
import { type Clearable, clearableKind, clearableResults, deletedIn, isWriting } from '../micro/clearable.ts'

export const contextManagementBeta = 'context-management-2025-06-27'

export type Delegation = {
  readonly request: RequestOptions
  /** What the server is expected to leave out. */
  readonly freed: number
  readonly items: readonly Clearable[]
}

export type ToolUsesChoices = {
  /** 'now': as soon as more than those to keep are there. */
  readonly trigger: 'now' | { readonly inputTokens: number }
  /** The newest so many tool uses stay. */
  readonly keep: number
  readonly clearAtLeast?: number
  readonly results?: boolean
  /** As the settings have it, unless told. */
  readonly inputs?: boolean
}

/** The request that asks for it; undefined when there is nothing that the server could clear. */
export function clearToolUses(view: View, situation: Situation, choices: ToolUsesChoices): Delegation | undefined {
  const { edit, items } = toolUsesEdit(view, situation, choices)
  if (items.length === 0) return undefined
  const gone = deletedIn(situation)
  const freed = Math.round(items.reduce((sum, { frees, toolUseId }) => sum + (gone.has(toolUseId) ? 0 : frees), 0))
  const leftOut = choices.trigger === 'now' ? { leftOut: items.map(({ toolUseId }) => toolUseId) } : {}
  return { request: { ...managementOf([edit]), ...leftOut }, freed, items }
}

export function managementOf(edits: readonly JsonObject[]): RequestOptions {
  return { contextManagement: { edits }, betas: [contextManagementBeta] }
}

/**
 * One edit for both strategies: the output of read-like tools, the input of write-like ones. Tools that may not be
 * cleared are named, since the server clears whatever is not excluded.
 */
export function toolUsesEdit(
  view: View,
  situation: Situation,
  { trigger, keep, clearAtLeast, results = true, inputs = situation.settings.clearInputs }: ToolUsesChoices,
): { readonly edit: JsonObject; readonly items: readonly Clearable[] } {
  const tools = toolsIn(view, situation)
  const writers = tools.filter(({ isWriter }) => isWriter).map(({ name }) => name)
  const isWanted = (tool: ToolIn) => tool.isClearable && (results || (inputs && tool.isWriter))
  const excluded = tools.filter((tool) => !isWanted(tool)).map(({ name }) => name)
  const left = new Set(tools.filter(isWanted).map(({ name }) => name))
  const items = clearableResults(view, situation).filter(({ tool }) => left.has(tool))
  const edit = {
    type: 'clear_tool_uses_20250919',
    trigger:
      trigger === 'now'
        ? { type: 'tool_uses', value: Math.max(1, keep) }
        : { type: 'input_tokens', value: trigger.inputTokens },
    keep: { type: 'tool_uses', value: keep },
    ...(clearAtLeast ? { clear_at_least: { type: 'input_tokens', value: clearAtLeast } } : {}),
    ...(excluded.length > 0 ? { exclude_tools: excluded } : {}),
    ...(inputs && writers.length > 0 ? { clear_tool_inputs: writers } : {}),
  }
  return { edit, items: items.slice(0, Math.max(0, items.length - keep)) }
}

type ToolIn = { readonly name: string; readonly isClearable: boolean; readonly isWriter: boolean }

/** By name, in the order of the alphabet, so that the same conversation gives the same bytes. */
function toolsIn({ messages }: View, { settings }: Situation): readonly ToolIn[] {
  const tools = new Map<string, { name: string; isClearable: boolean; isWriter: boolean }>()
  for (const { role, content } of messages) {
    if (role !== 'assistant' || typeof content === 'string') continue
    for (const call of blocksOf(content).filter(isToolUse)) {
      const { name } = call
      const kind = clearableKind(call, settings)
      const tool = tools.get(name) ?? { name, isClearable: true, isWriter: false }
      // The server knows names only: a tool of which one call must stay, stays.
      tool.isClearable &&= kind !== undefined
      tool.isWriter ||= isWriting(kind)
      tools.set(name, tool)
    }
  }
  return [...tools.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
