// Refusals of the Responses API about the items of a request: calls and their outputs, reasoning and the items made with it.
import type { JsonObject } from 'everlong/internal'
import { type ChatProblem, chatProblem } from '../problem.ts'
import { isCall, isMessage, isOutput } from './items.ts'

/** The reasoning item with which an item of an earlier answer was made. */
export type ReasoningOf = (id: string) => string | undefined

export function brokenItems(items: readonly JsonObject[], reasoningOf: ReasoningOf): ChatProblem | undefined {
  return brokenCalls(items) ?? brokenReasoning(items) ?? lostReasoning(items, reasoningOf)
}

function brokenCalls(items: readonly JsonObject[]): ChatProblem | undefined {
  const open = new Set<unknown>()
  for (const item of items) {
    if (isCall(item)) open.add(item.call_id)
    if (isOutput(item) && !open.delete(item.call_id)) {
      const kind = item.type === 'function_call_output' ? 'function' : 'custom tool'
      return chatProblem(`No tool call found for ${kind} call output with call_id ${item.call_id}.`, 'input', null)
    }
  }
  const [first] = open
  return first === undefined
    ? undefined
    : chatProblem(`No tool output found for function call ${String(first)}.`, 'input', null)
}

function brokenReasoning(items: readonly JsonObject[]): ChatProblem | undefined {
  const at = items.findIndex((item, index) => item.type === 'reasoning' && !isAnswer(items[index + 1]))
  const item = items[at]
  if (item === undefined) return undefined
  const named = `Item '${String(item.id)}' of type 'reasoning'`
  return chatProblem(`${named} was provided without its required following item.`, 'input', null)
}

function isAnswer(item: JsonObject | undefined): boolean {
  if (item === undefined) return false
  return isMessage(item) ? item.role === 'assistant' : isCall(item) || item.type === 'reasoning'
}

function lostReasoning(items: readonly JsonObject[], reasoningOf: ReasoningOf): ChatProblem | undefined {
  const present = new Set(items.map(({ id }) => id))
  for (const item of items) {
    const needed = typeof item.id === 'string' ? reasoningOf(item.id) : undefined
    if (needed === undefined || present.has(needed)) continue
    const named = `Item '${String(item.id)}' of type '${String(item.type)}'`
    return chatProblem(`${named} was provided without its required 'reasoning' item: '${needed}'.`, 'input', null)
  }
  return undefined
}
