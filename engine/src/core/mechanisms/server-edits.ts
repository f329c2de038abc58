// Requests to the server to omit content, as request options. The history is sent whole.
import type { JsonObject } from '../message/json.ts'
import type { RequestOptions } from '../ports/outcome.ts'
import type { View } from '../transcript/view/fold.ts'
import { type Clearable, callsIn, clearableKind, clearableResults, deletedIn, isWriting } from './clearable.ts'
import type { Situation } from './mechanism.ts'

export type ToolUsesChoices = {
  readonly trigger: JsonObject
  readonly keep: number
  readonly clearAtLeast?: number
  readonly results?: boolean
  readonly inputs: boolean
}

/** Clears all but the newest tool uses at once. Undefined if there is nothing to clear. */
export function clearToolUses(
  view: View,
  situation: Situation,
  keep: number,
): { readonly request: RequestOptions; readonly freed: number } | undefined {
  const trigger = { type: 'tool_uses', value: Math.max(1, keep) }
  const { edit, items } = toolUsesEdit(view, situation, { trigger, keep, inputs: situation.settings.clearInputs })
  if (items.length === 0) return undefined
  const gone = deletedIn(situation)
  const freed = Math.round(items.reduce((sum, { frees, toolUseId }) => sum + (gone.has(toolUseId) ? 0 : frees), 0))
  return { request: { ...managementOf([edit]), leftOut: items.map(({ toolUseId }) => toolUseId) }, freed }
}

export function managementOf(edits: readonly JsonObject[]): RequestOptions {
  return { contextManagement: { edits }, betas: ['context-management-2025-06-27'] }
}

/** Clears outputs of reading tools and inputs of writing tools. Names the tools to exclude, because the server clears all others. */
export function toolUsesEdit(
  view: View,
  situation: Situation,
  { trigger, keep, clearAtLeast, results = true, inputs }: ToolUsesChoices,
): { readonly edit: JsonObject; readonly items: readonly Clearable[] } {
  const tools = toolsIn(view, situation)
  const writers = tools.filter(({ isWriter }) => isWriter).map(({ name }) => name)
  const isExcluded = (tool: ToolIn) => !tool.isClearable || !(results || (inputs && tool.isWriter))
  const excluded = tools.filter(isExcluded).map(({ name }) => name)
  const items = clearableResults(view, situation).filter(({ tool }) => !excluded.includes(tool))
  const edit = {
    type: 'clear_tool_uses_20250919',
    trigger,
    keep: { type: 'tool_uses', value: keep },
    ...(clearAtLeast ? { clear_at_least: { type: 'input_tokens', value: clearAtLeast } } : {}),
    ...(excluded.length > 0 ? { exclude_tools: excluded } : {}),
    ...(inputs && writers.length > 0 ? { clear_tool_inputs: writers } : {}),
  }
  return { edit, items: items.slice(0, Math.max(0, items.length - keep)) }
}

type ToolIn = { readonly name: string; isClearable: boolean; isWriter: boolean }

/** Sorted, so that the same conversation gives the same bytes. */
function toolsIn(view: View, { settings, weigher }: Situation): readonly ToolIn[] {
  const tools = new Map<string, ToolIn>()
  for (const { call } of weigher.once(callsIn, view).uses) {
    const { name } = call
    const kind = clearableKind(call, settings)
    const tool = tools.get(name) ?? { name, isClearable: true, isWriter: false }
    // The server knows only names, so a tool is excluded if one of its calls must stay.
    tool.isClearable &&= kind !== undefined
    tool.isWriter ||= isWriting(kind)
    tools.set(name, tool)
  }
  return [...tools.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
