// Allowed combinations of context edits and on-demand compaction with other parameters.
import { isObject, isToolUse, type JsonObject, type ModelFacts } from 'everlong/internal'
import { invalid, type Problem } from '../http/problem.ts'
import { type MessagesRequest, thinks } from '../request/request.ts'

export function combinesEdits(request: MessagesRequest): Problem | undefined {
  return checkEditOrder(request) ?? checkOnDemand(request)
}

export function editsOf(request: MessagesRequest): readonly JsonObject[] {
  const management = request.body.context_management
  const edits = isObject(management) ? management.edits : undefined
  return Array.isArray(edits) ? edits.filter(isObject) : []
}

const smallestTrigger = 50_000

function checkEditOrder(request: MessagesRequest): Problem | undefined {
  const edits = editsOf(request)
  for (const [at, edit] of edits.entries()) {
    const path = `context_management.edits.${at}`
    if (edits.findIndex((other) => other.type === edit.type) !== at) {
      return invalid(`context_management.edits: duplicate strategy \`${String(edit.type)}\``)
    }
    if (edit.type === 'clear_thinking_20251015') {
      if (at > 0) return invalid(`${path}: \`clear_thinking_20251015\` must be the first strategy in \`edits\``)
      if (!thinks(request)) {
        return invalid(`${path}: \`clear_thinking_20251015\` strategy requires \`thinking\` to be enabled or adaptive`)
      }
    }
    if (edit.type === 'compact_20260112' && request.facts.compaction === 'none') {
      return invalid(`${path}: \`compact_20260112\` is not supported on this model`)
    }
    const trigger = isObject(edit.trigger) ? edit.trigger.value : undefined
    if (edit.type === 'compact_20260112' && typeof trigger === 'number' && trigger < smallestTrigger) {
      const rule = `Input should be greater than or equal to ${smallestTrigger}`
      return invalid(`${path}.compact_20260112.trigger.value: ${rule}`)
    }
  }
  return undefined
}

export function compactsOnDemand(facts: ModelFacts): boolean {
  return facts.compaction === 'on-demand'
}

export function hasRemainingBudget(request: MessagesRequest): boolean {
  const output = isObject(request.body.output_config) ? request.body.output_config : {}
  return isObject(output.task_budget) && typeof output.task_budget.remaining === 'number'
}

function checkOnDemand(request: MessagesRequest): Problem | undefined {
  const { body } = request
  // Counting ignores the parameter.
  if (!isObject(body.compaction) || request.endpoint === 'count') return undefined
  if (!compactsOnDemand(request.facts)) return invalid('compaction: not supported on this model')
  const refuse = (what: string) => invalid(`compaction: cannot be combined with \`${what}\``)
  if (isObject(body.context_management)) return refuse('context_management')
  if (request.stopSequences.length > 0) return refuse('stop_sequences')
  const output = isObject(body.output_config) ? body.output_config : {}
  if (output.format) return refuse('output_config.format')
  if (hasRemainingBudget(request)) return refuse('task_budget.remaining')
  const choice = isObject(body.tool_choice) ? body.tool_choice.type : undefined
  if (choice === 'any' || choice === 'tool') return refuse('tool_choice')
  const last = request.messages.at(-1)
  if (last?.role === 'assistant' && last.content.some(isToolUse)) {
    const rule = 'compaction: the conversation ends on an assistant turn that is not finished'
    return invalid(rule, 'compaction_incomplete_turn')
  }
  const content = request.messages.filter((message) => message.role !== 'system').flatMap((message) => message.content)
  if (content.some((block) => block.type !== 'compaction')) return undefined
  return invalid('compaction: there is nothing to summarize', 'compaction_nothing_to_summarize')
}
