// The two clearing edits: old tool uses and old thinking. Pure: takes messages, returns messages and a report.
import type { Block } from 'everlong'
import { isObject, isThinking, isToolResult, isToolUse, type JsonObject } from 'everlong/internal'
import { beginsTurn, type Messages, mapContent } from './view.ts'

export type AppliedEdit =
  | {
      readonly type: 'clear_tool_uses_20250919'
      readonly cleared_tool_uses: number
      readonly cleared_input_tokens: number
    }
  | {
      readonly type: 'clear_thinking_20251015'
      readonly cleared_thinking_turns: number
      readonly cleared_input_tokens: number
    }

export type Cleared = { readonly messages: Messages; readonly applied: readonly AppliedEdit[] }

/** Tokens of a whole prompt made of these messages. */
export type Measure = (messages: Messages) => number

const clearedText = '[Old tool result cleared]'

export function applyClearing(messages: Messages, edits: readonly JsonObject[], measure: Measure): Cleared {
  let current: Cleared = { messages, applied: [] }
  for (const edit of edits) {
    const next = clearOnce(current.messages, edit, measure)
    if (next !== undefined) current = { messages: next.messages, applied: [...current.applied, ...next.applied] }
  }
  return current
}

function clearOnce(messages: Messages, edit: JsonObject, measure: Measure): Cleared | undefined {
  if (edit.type === 'clear_tool_uses_20250919') return clearToolUses(messages, edit, measure)
  if (edit.type === 'clear_thinking_20251015') return clearThinking(messages, edit, measure)
  return undefined
}

function clearToolUses(messages: Messages, edit: JsonObject, measure: Measure): Cleared | undefined {
  const uses = messages.flatMap((message) => message.content.filter(isToolUse))
  const before = measure(messages)
  if (!isTriggered(edit.trigger, { tokens: before, uses: uses.length })) return undefined
  const keep = numberIn(edit.keep) ?? 3
  const excluded = stringsOf(edit.exclude_tools)
  const old = uses.slice(0, Math.max(0, uses.length - keep)).filter((use) => !excluded.includes(use.name))
  if (old.length === 0) return undefined
  const ids = new Set(old.map((use) => use.id))
  const cleared = mapContent(messages, (content) =>
    content.map((block) => clearBlock(block, ids, edit.clear_tool_inputs)),
  )
  const freed = before - measure(cleared)
  if (freed <= 0 || freed < (numberIn(edit.clear_at_least) ?? 0)) return undefined
  const report = { type: 'clear_tool_uses_20250919', cleared_tool_uses: ids.size, cleared_input_tokens: freed } as const
  return { messages: cleared, applied: [report] }
}

function isTriggered(trigger: unknown, now: { readonly tokens: number; readonly uses: number }): boolean {
  const value = numberIn(trigger) ?? 100_000
  return isObject(trigger) && trigger.type === 'tool_uses' ? now.uses > value : now.tokens > value
}

function clearBlock(block: Block, ids: ReadonlySet<string>, inputs: unknown): Block {
  if (isToolResult(block) && ids.has(block.tool_use_id)) return { ...block, content: clearedText }
  if (!isToolUse(block) || !ids.has(block.id)) return block
  const clears = inputs === true || stringsOf(inputs).includes(block.name)
  return clears ? { ...block, input: {} } : block
}

function clearThinking(messages: Messages, edit: JsonObject, measure: Measure): Cleared | undefined {
  const keep = edit.keep
  if (keep === undefined || keep === 'all' || (isObject(keep) && keep.type === 'all')) return undefined
  const turns = thinkingTurns(messages)
  const old = turns.slice(0, Math.max(0, turns.length - (numberIn(keep) ?? 1)))
  const end = old.at(-1)
  if (end === undefined) return undefined
  const past = mapContent(messages.slice(0, end), (content) => content.filter((block) => !isThinking(block)))
  const cleared = [...past, ...messages.slice(end)]
  const freed = measure(messages) - measure(cleared)
  return {
    messages: cleared,
    applied: [{ type: 'clear_thinking_20251015', cleared_thinking_turns: old.length, cleared_input_tokens: freed }],
  }
}

/** For each turn with thinking, the index after its last message. */
function thinkingTurns(messages: Messages): readonly number[] {
  const starts = messages.flatMap((message, at) => (beginsTurn(message) ? [at] : []))
  const ends = [...starts.slice(1), messages.length]
  return ends.filter((end, at) =>
    messages.slice(starts[at] ?? 0, end).some((message) => message.content.some(isThinking)),
  )
}

function numberIn(setting: unknown): number | undefined {
  return isObject(setting) && typeof setting.value === 'number' ? setting.value : undefined
}

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
