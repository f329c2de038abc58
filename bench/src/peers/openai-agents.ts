// Conversations in the shape of the OpenAI Agents SDK.
import type { AgentInputItem, AgentOutputItem } from '@openai/agents'
import type { Block, Message } from 'everlong'
import { blocksOf, isText, isToolResult, isToolUse, textOf } from 'everlong/internal'

export function toAgentItems(messages: readonly Message[]): readonly AgentInputItem[] {
  return messages.flatMap(({ role, content }) => blocksOf(content).flatMap((block) => itemOf(role, block)))
}

function itemOf(role: Message['role'], block: Block): readonly AgentInputItem[] {
  if (isToolUse(block)) {
    const call = { callId: block.id, name: block.name, arguments: JSON.stringify(block.input) }
    return [{ type: 'function_call', status: 'completed', ...call }]
  }
  if (isToolResult(block)) {
    const output = { type: 'text' as const, text: textOf(block.content) }
    return [{ type: 'function_call_result', callId: block.tool_use_id, name: '', status: 'completed', output }]
  }
  if (!isText(block)) return []
  if (role === 'user') return [{ type: 'message', role, content: [{ type: 'input_text', text: block.text }] }]
  const content = [{ type: 'output_text' as const, text: block.text }]
  return [{ type: 'message', role: 'assistant', status: 'completed', content }]
}

export function agentText(output: readonly AgentOutputItem[]): string {
  return output
    .flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('')
}
