// A conversation of the Messages API as chat messages: calls and their results, images, documents. What chat completions
// have no place for (thinking, signatures, server tools) is left out or said in words; nothing is made up.
import { type Block, blocksOf, isText, isThinking, isToolResult, isToolUse, textOf } from '../../core/message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import type { Message } from '../../core/message/message.ts'
import type { ModelRequest } from '../../core/ports/model.ts'

export function chatMessages({ system, messages }: Pick<ModelRequest, 'system' | 'messages'>): readonly JsonObject[] {
  const instruction = textOf(system)
  return [
    ...(instruction === '' ? [] : [{ role: 'system', content: instruction }]),
    ...messages.flatMap((message) => (message.role === 'assistant' ? assistant(message) : user(message))),
  ]
}

function assistant({ content }: Message): readonly JsonObject[] {
  const blocks = blocksOf(content).filter((block) => !isThinking(block))
  const calls = blocks.filter(isToolUse).map((block) => ({
    id: block.id,
    type: 'function',
    function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) },
  }))
  const text = blocks
    .filter((block) => !isToolUse(block))
    .map(formatNumber)
    .filter((part) => part !== '')
    .join('\n')
  if (text === '' && calls.length === 0) return []
  return [
    { role: 'assistant', content: text === '' ? null : text, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
  ]
}

/** Results first, each a message of its own; then the rest, with the images that results held: tools answer in text. */
function user({ content }: Message): readonly JsonObject[] {
  const blocks = blocksOf(content)
  const results = blocks.filter(isToolResult)
  const images = results.flatMap((result) => blocksOf(result.content).filter((block) => partOf(block) !== undefined))
  const rest = [...images, ...blocks.filter((block) => !isToolResult(block))]
  return [
    ...results.map((result) => ({
      role: 'tool',
      tool_call_id: result.tool_use_id,
      content: resultText(result.content),
    })),
    ...(rest.length === 0 ? [] : [{ role: 'user', content: userContent(rest) }]),
  ]
}

function userContent(blocks: readonly Block[]): string | readonly JsonObject[] {
  const [only] = blocks
  if (blocks.length === 1 && only !== undefined && isText(only)) return only.text
  return blocks.map((block) => partOf(block) ?? { type: 'text', text: formatNumber(block) })
}

function resultText(content: unknown): string {
  return blocksOf(content)
    .map((block) => (partOf(block) === undefined ? formatNumber(block) : `[${block.type}: see the next user message]`))
    .join('\n')
}

/** A part that is more than text: an image, a file. */
function partOf(block: Block): JsonObject | undefined {
  const source = objectAt(block, 'source')
  const url = stringAt(source, 'url')
  const data = stringAt(source, 'data')
  const encoded = `data:${stringAt(source, 'media_type') ?? 'application/octet-stream'};base64,${data ?? ''}`
  const isEncoded = source?.type === 'base64' && data !== undefined
  if (block.type === 'image' && (url !== undefined || isEncoded))
    return { type: 'image_url', image_url: { url: url ?? encoded } }
  if (block.type !== 'document' || !isEncoded) return undefined
  return { type: 'file', file: { filename: stringAt(block, 'title') ?? 'document.pdf', file_data: encoded } }
}

function formatNumber(block: Block): string {
  if (isText(block)) return block.text
  // A summary that another API wrote is a summary here too.
  if (block.type === 'compaction') return stringAt(block, 'content') ?? ''
  const source = objectAt(block, 'source')
  if (block.type === 'document') return stringAt(source, 'data') ?? textOf(source?.content) ?? '[document]'
  return `[${block.type}]`
}
