// The request in the form for scripts: two roles, no marks, compactions and notices as text.
import type { Block, Message } from 'everlong'
import { isObject, textOf } from 'everlong/internal'
import type { MessagesRequest } from '../request/request.ts'
import type { ScriptRequest, ToolDefinition } from '../script/script.ts'
import type { Messages } from './view.ts'

export function scriptRequest(request: MessagesRequest, messages: Messages, maxTokens: number): ScriptRequest {
  return {
    model: request.model,
    maxTokens,
    system: textOf(request.system),
    messages: scriptMessages(messages),
    tools: request.tools.map(toolDefinition),
  }
}

function toolDefinition(tool: Readonly<Record<string, unknown>>): ToolDefinition {
  return {
    name: String(tool.name ?? tool.type),
    ...(typeof tool.description === 'string' ? { description: tool.description } : {}),
    ...(tool.input_schema === undefined ? {} : { input_schema: tool.input_schema }),
  }
}

function scriptMessages(messages: Messages): readonly Message[] {
  const merged: { role: 'user' | 'assistant'; content: Block[] }[] = []
  const add = (role: 'user' | 'assistant', block: Block) => {
    const last = merged.at(-1)
    if (last?.role === role) last.content.push(block)
    else merged.push({ role, content: [block] })
  }
  for (const message of messages) {
    for (const block of message.content) {
      if (block.type === 'cache_edits') continue
      // A summary stands for the whole past. For the model it is input, not its own output.
      if (block.type === 'compaction') add('user', { type: 'text', text: String(block.content) })
      else if (message.role === 'system') add('user', block)
      else add(message.role, plain(block))
    }
  }
  return merged
}

function plain(block: Block): Block {
  if (block.cache_control === undefined) return block
  const { cache_control: _, ...rest } = block
  return rest as Block
}

/** Appends the instruction for a summarizer to the conversation. */
export function withInstruction(messages: Messages, text: string): Messages {
  return [...messages, { role: 'user', index: messages.length, isString: true, content: [{ type: 'text', text }] }]
}

export function instructionsOf(setting: unknown): string {
  const own = isObject(setting) && typeof setting.instructions === 'string' ? setting.instructions.trim() : ''
  return own === '' ? defaultInstructions : own
}

const defaultInstructions =
  'Write a summary from which this work can go on in a fresh conversation: what was asked, what is done, ' +
  'what was learned, what comes next. Put it between <summary> and </summary>. Do not call tools.'
