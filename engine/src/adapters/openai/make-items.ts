// New items, in the spelling of the Responses API or of the OpenAI Agents SDK, for what was changed or written by us.
import { type Block, blocksOf, isText, isToolUse, textOf } from '../../core/message/block.ts'
import { isObject, type JsonObject, stringAt } from '../../core/message/json.ts'
import { urlOf, wordsOf } from '../parts.ts'

export type Dialect = 'responses' | 'agents'

/** A block of an answer that no item held before. */
export function makeItem(block: Block, dialect: Dialect): readonly JsonObject[] {
  if (!isToolUse(block)) {
    const content = makePart(block, 'output', dialect)
    return [{ type: 'message', role: 'assistant', status: 'completed', content }]
  }
  const { id, name, input } = block
  const call = { type: 'function_call', name, arguments: wordsOf(input), status: 'completed' }
  return [dialect === 'agents' ? { ...call, callId: id } : { ...call, call_id: id }]
}

/** A call with another input; calls that are no functions have theirs in fields of their own. */
export function withInput(item: JsonObject, input: unknown): JsonObject {
  if (typeof item.arguments === 'string') return { ...item, arguments: wordsOf(input) }
  return isObject(input) ? { ...item, ...input } : item
}

/** A result with the output of this block. Only text and images: that is what tools return here. */
export function makeResult(block: Block, before: JsonObject | undefined, dialect: Dialect): JsonObject {
  const { content, tool_use_id: id } = block
  const output =
    typeof content === 'string' ? content : blocksOf(content).flatMap((part) => makePart(part, 'input', dialect))
  if (before) return { ...before, output: fittingOutput(output, before.output) }
  if (dialect === 'responses') return { type: 'function_call_output', call_id: id, output }
  return { type: 'function_call_result', callId: id, name: 'unknown', status: 'completed', output }
}

/** The Agents SDK writes a text as an object; other kinds of calls take lists of their own. */
function fittingOutput(output: unknown, before: unknown): unknown {
  if (typeof output !== 'string' || !isObject(before) || before.type !== 'text') return output
  return { ...before, text: output }
}

export function makePart(block: Block, side: 'input' | 'output', dialect: Dialect): readonly JsonObject[] {
  if (isText(block)) return [{ type: `${side}_text`, text: block.text }]
  const url = urlOf(block)
  if (url !== undefined && side === 'input') {
    if (block.type === 'image') return [dialect === 'agents' ? imageOfAgents(url) : imageOfResponses(url)]
    const filename = stringAt(block, 'title') ?? 'document.pdf'
    const isData = url.startsWith('data:')
    if (dialect === 'agents') return [{ type: 'input_file', file: isData ? url : { url }, filename }]
    return [{ type: 'input_file', ...(isData ? { file_data: url, filename } : { file_url: url }) }]
  }
  return [{ type: `${side}_text`, text: textOf([block]) || `[${block.type}]` }]
}

function imageOfAgents(image: string): JsonObject {
  return { type: 'input_image', image }
}

function imageOfResponses(url: string): JsonObject {
  return { type: 'input_image', image_url: url, detail: 'auto' }
}
