// Rules about the place of thinking and what it excludes. ../thinking checks whether a block is genuine.
import { isThinking, isToolResult, type ModelFacts } from 'everlong/internal'
import { invalid, type Problem } from '../http/problem.ts'
import { type MessagesRequest, turnsOf } from '../request/request.ts'

const manual = 'https://docs.claude.com/en/docs/build-with-claude/extended-thinking'

export function leavesRoomForAnswer(request: MessagesRequest): Problem | undefined {
  const budget = request.thinking?.type === 'enabled' ? (request.thinking.budget_tokens ?? 0) : 0
  if (request.endpoint === 'count' || budget === 0 || request.maxTokens > budget) return undefined
  return invalid(
    `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. Please consult our documentation at ${manual}#max-tokens-and-context-window-size`,
  )
}

const accepted: Readonly<Record<ModelFacts['thinking'], readonly string[]>> = {
  none: ['disabled'],
  budget: ['enabled', 'disabled'],
  any: ['enabled', 'adaptive', 'disabled', 'between_tools'],
  adaptive: ['adaptive', 'disabled', 'between_tools'],
  always: ['adaptive', 'between_tools'],
}

export function thinksAsItCan(request: MessagesRequest): Problem | undefined {
  const type = request.thinking?.type
  if (type === undefined || accepted[request.facts.thinking].includes(type)) return undefined
  if (type === 'adaptive') return invalid('adaptive thinking is not supported on this model')
  return invalid(`"thinking.type.${type}" is not supported for this model.${hints[type]}`)
}

const hints = {
  enabled: ' Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  disabled:
    ' Thinking defaults to adaptive mode when not specified; use "thinking.type.enabled" with "budget_tokens" for extended thinking.',
  between_tools: '',
} as const

/** From Opus 5 on, the two highest efforts need thinking. */
export function thinksWhenItTriesHard(request: MessagesRequest): Problem | undefined {
  const output = request.body.output_config
  const effort = typeof output === 'object' && output !== null && 'effort' in output ? String(output.effort) : ''
  const isOff = request.thinking?.type === 'disabled' && request.facts.thinksUnasked
  if (!isOff || !['xhigh', 'max'].includes(effort)) return undefined
  return invalid(`"thinking.type.disabled" is not supported for this model with effort "${effort}".`)
}

export function doesNotForceTools(request: MessagesRequest): Problem | undefined {
  const choice = request.body.tool_choice
  const type = typeof choice === 'object' && choice !== null && 'type' in choice ? choice.type : 'auto'
  if (type !== 'any' && type !== 'tool') return undefined
  if (request.facts.bindsThinking)
    return invalid('tool_choice: type "tool" and "any" are not supported for this model.')
  if (request.thinking?.type !== 'enabled') return undefined
  return invalid('Thinking may not be enabled when tool_choice forces tool use.')
}

export function doesNotEndInThinking(request: MessagesRequest): Problem | undefined {
  for (const turn of turnsOf(request.messages)) {
    const last = turn.blocks.at(-1)
    if (turn.role !== 'assistant' || last === undefined || !isThinking(last.block)) continue
    return invalid(`${last.path}: The final block in an assistant message cannot be \`${last.block.type}\`.`)
  }
  return undefined
}

/** With manual thinking, a turn with thinking begins with it. */
export function startsTurnsWithThinking(request: MessagesRequest): Problem | undefined {
  if (request.thinking?.type !== 'enabled') return undefined
  for (const turn of turnsOf(request.messages)) {
    const first = turn.blocks.find(({ block }) => block.type !== 'compaction')
    if (first === undefined || isThinking(first.block) || !turn.blocks.some(({ block }) => isThinking(block))) continue
    return invalid(
      `${first.path}: If an assistant message contains any thinking blocks, the first block must be \`thinking\` or ` +
        `\`redacted_thinking\`. Found \`${first.block.type}\`.`,
    )
  }
  return undefined
}

/**
 * With manual thinking, what is being continued (a tool loop: the request ends with results; or an answer that was begun)
 * must begin with thinking.
 * Only its first assistant message: the model does not think again between results. Adaptive thinking has no such rule.
 */
export function startsToolTurnWithThinking(request: MessagesRequest): Problem | undefined {
  if (request.thinking?.type !== 'enabled') return undefined
  const turns = turnsOf(request.messages)
  const last = turns.at(-1)
  if (last?.role === 'user' && !last.blocks.some(({ block }) => isToolResult(block))) return undefined
  const asked = turns.findLastIndex(
    ({ role, blocks }) => role === 'user' && !blocks.some(({ block }) => isToolResult(block)),
  )
  const first = turns[asked + 1]?.blocks.find(({ block }) => block.type !== 'compaction')
  if (first === undefined || isThinking(first.block)) return undefined
  return invalid(
    `${first.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.block.type}\`. ` +
      'When `thinking` is enabled, a final `assistant` message must start with a thinking block ' +
      '(preceeding the lastmost set of `tool_use` and `tool_result` blocks). ' +
      'We recommend you include thinking blocks from previous turns. ' +
      `To avoid this requirement, disable \`thinking\`. Please consult our documentation at ${manual}`,
  )
}
