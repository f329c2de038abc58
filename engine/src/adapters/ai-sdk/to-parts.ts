// From our messages to those of the AI SDK, for what is not as the SDK gave it. Parts that did not change are the SDK's own
// objects; of a changed part everything but its content stays: names, provider options.
import {
  type Block,
  blocksOf,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  textOf,
} from '../../core/message/block.ts'
import { isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import type { Message } from '../../core/message/message.ts'
import type { OriginOf } from '../history/converter.ts'
import { type AiMessage, type FileShape, isPart, type Part } from './shapes.ts'

type Writing = { readonly originOf: OriginOf<AiMessage>; readonly files: FileShape }

export function fromMessage({ role, content }: Message, writing: Writing): readonly AiMessage[] {
  const blocks = blocksOf(content)
  if (role === 'assistant') return messageOf('assistant', blocks, writing)
  const isTools = (block: Block) => isToolResult(block) || sameOrigin(block, writing)?.foreign.role === 'tool'
  return [
    ...messageOf('tool', blocks.filter(isTools), writing),
    ...messageOf(
      'user',
      blocks.filter((block) => !isTools(block)),
      writing,
    ),
  ]
}

function messageOf(role: AiMessage['role'], blocks: readonly Block[], writing: Writing): readonly AiMessage[] {
  if (blocks.length === 0) return []
  const content = blocks.map((block) => partOf(block, writing))
  const sources = new Set(blocks.map((block) => writing.originOf(block)?.foreign))
  const [only] = sources
  // All of it came from one message, so what that said about itself still holds.
  const options = sources.size === 1 && only?.role === role ? only.providerOptions : undefined
  return [{ role, content, ...(options === undefined ? {} : { providerOptions: options }) }]
}

function sameOrigin(block: Block, { originOf }: Writing) {
  const origin = originOf(block)
  return origin?.isSame === true ? origin : undefined
}

function partOf(block: Block, writing: Writing): Part {
  const origin = writing.originOf(block)
  const part = isPart(origin?.part) ? origin.part : undefined
  if (origin?.isSame && part) return part
  if (isText(block)) return { type: 'text', text: block.text }
  if (isToolResult(block)) return resultPart(block, part, writing)
  if (isToolUse(block)) {
    if (part) return { ...part, input: block.input }
    return { type: 'tool-call', toolCallId: block.id, toolName: block.name, input: block.input }
  }
  if (isThinking(block)) return reasoningPart(block)
  return isMedia(block) ? filePart(block, writing.files) : { type: 'text', text: JSON.stringify(block) }
}

function resultPart(block: Block & { readonly tool_use_id: string }, part: Part | undefined, writing: Writing): Part {
  const id = block.tool_use_id
  const base = part ?? { type: 'tool-result', toolCallId: id, toolName: toolNameOf(id, writing) }
  return { ...base, output: outputOf(block, part, writing) }
}

/** Text, and the files that are still in it, which are the SDK's own where it gave them. */
function outputOf(block: Block, part: Part | undefined, { files }: Writing): JsonObject {
  const left = Array.isArray(block.content) ? blocksOf(block.content).filter(isMedia) : []
  const text = textOf(block.content)
  if (left.length === 0) return { type: block.is_error === true ? 'error-text' : 'text', value: text }
  const output = part?.output
  const given = isObject(output) && Array.isArray(output.value) ? output.value.filter(isPart) : []
  const own = given.filter(({ type }) => type !== 'text').slice(-left.length)
  const media = own.length === left.length ? own : left.map((item) => filePart(item, files))
  return { type: 'content', value: [{ type: 'text', text }, ...media] }
}

/** A result names its tool; ours names only the call. */
function toolNameOf(id: string, { originOf }: Writing): string {
  const call = originOf({ type: 'tool_use', id, name: '', input: {} })?.block
  return stringAt(call, 'name') ?? 'unknown'
}

function reasoningPart(block: Block): Part {
  const options = block.type === 'thinking' ? { signature: block.signature } : { redactedData: block.data }
  return { type: 'reasoning', text: stringAt(block, 'thinking') ?? '', providerOptions: { anthropic: options } }
}

function filePart(block: Block, files: FileShape): Part {
  const source = objectAt(block, 'source')
  const url = stringAt(source, 'url')
  const mediaType = stringAt(source, 'media_type') ?? (block.type === 'image' ? 'image/*' : 'application/pdf')
  const data = stringAt(source, 'data') ?? ''
  if (files === 'bare') return { type: 'file', mediaType, data: url === undefined ? data : new URL(url) }
  return {
    type: 'file',
    mediaType,
    data: url === undefined ? { type: 'data', data } : { type: 'url', url: new URL(url) },
  }
}
