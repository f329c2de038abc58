// The converter of the AI SDK. What it writes are the messages that are not as the SDK gave them: parts that did not change
// are the SDK's own objects; of a changed part everything but its content stays: names, provider options.
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
import type { Converter, OriginOf } from '../history/converter.ts'
import { writeParts } from '../parts.ts'
import {
  type AiMessage,
  anthropicOptions,
  blockOf,
  isSystem,
  itemBlock,
  type Part,
  partsIn,
  readMessage,
} from './messages.ts'

/** How files are written: tagged (`{ type: 'data', data }`), as prompts of v4 need it, or bare. */
export type FileShape = 'tagged' | 'bare'

type Writing = { readonly originOf: OriginOf<AiMessage>; readonly files: FileShape }

export function aiSdkConverter(files: FileShape): Converter<AiMessage> {
  return {
    isSystem,
    read: readMessage,
    write: ({ role, content }, originOf) => {
      const blocks = blocksOf(content)
      const writing = { originOf, files }
      if (role === 'assistant') return messageOf('assistant', blocks, writing)
      const isOfTools = (block: Block) => isToolResult(block) || originOf(block)?.role === 'tool'
      const others = blocks.filter((block) => !isOfTools(block))
      return [...messageOf('tool', blocks.filter(isOfTools), writing), ...messageOf('user', others, writing)]
    },
    withMark: (message, mark) => (isObject(mark) ? marked(message, mark) : message),
  }
}

/** Anthropic's provider takes it from the message; other providers do not look there. */
function marked(message: AiMessage, mark: JsonObject): AiMessage {
  const anthropic = { ...anthropicOptions(message), cacheControl: mark }
  return { ...message, providerOptions: { ...message.providerOptions, anthropic } }
}

function messageOf(role: AiMessage['role'], blocks: readonly Block[], writing: Writing): readonly AiMessage[] {
  if (blocks.length === 0) return []
  const sources = new Set(blocks.map(writing.originOf))
  const [only] = sources
  // All of it came from one message, so what that said about itself still holds.
  const options = sources.size === 1 && only?.role === role ? only.providerOptions : undefined
  const content = blocks.flatMap((block) => partOf(block, writing))
  return [{ role, content, ...(options === undefined ? {} : { providerOptions: options }) }]
}

function partOf(block: Block, writing: Writing): readonly Part[] {
  const before = writing.originOf(block)
  const read = before ? partsIn(before.content).map((part) => ({ block: blockOf(part, before.role), part })) : []
  return writeParts([block], read, (_, part) => [makePart(block, part, writing)])
}

function makePart(block: Block, part: Part | undefined, writing: Writing): Part {
  if (isText(block)) return { type: 'text', text: block.text }
  if (isToolResult(block)) {
    const { tool_use_id: id } = block
    const base = part ?? { type: 'tool-result', toolCallId: id, toolName: toolNameOf(id, writing) }
    return { ...base, output: outputOf(block, part, writing) }
  }
  if (isToolUse(block)) {
    if (part) return { ...part, input: block.input }
    return { type: 'tool-call', toolCallId: block.id, toolName: block.name, input: block.input }
  }
  if (isThinking(block)) return reasoningPart(block)
  return isMedia(block) ? filePart(block, writing.files) : { type: 'text', text: JSON.stringify(block) }
}

/** Text, and the files that are still in it, which are the SDK's own where it gave them. */
function outputOf(block: Block, part: Part | undefined, { files }: Writing): JsonObject {
  const left = Array.isArray(block.content) ? blocksOf(block.content).filter(isMedia) : []
  const text = textOf(block.content)
  if (left.length === 0) return { type: block.is_error === true ? 'error-text' : 'text', value: text }
  const given = partsIn(objectAt(part, 'output')?.value).map((item) => ({ block: itemBlock(item), part: item }))
  const media = writeParts(left, given, (item) => [filePart(item, files)])
  return { type: 'content', value: [{ type: 'text', text }, ...media] }
}

/** A result names its tool; ours names only the call. */
function toolNameOf(id: string, { originOf }: Writing): string {
  const answer = originOf({ type: 'tool_use', id, name: '', input: {} })
  const call = partsIn(answer?.content).find(({ toolCallId }) => toolCallId === id)
  return stringAt(call, 'toolName') ?? 'unknown'
}

function reasoningPart(block: Block): Part {
  const options = block.type === 'thinking' ? { signature: block.signature } : { redactedData: block.data }
  return { type: 'reasoning', text: stringAt(block, 'thinking') ?? '', providerOptions: { anthropic: options } }
}

function filePart(block: Block, files: FileShape): Part {
  const source = objectAt(block, 'source')
  const address = stringAt(source, 'url')
  const url = address === undefined ? undefined : new URL(address)
  const mediaType = stringAt(source, 'media_type') ?? (block.type === 'image' ? 'image/*' : 'application/pdf')
  const data = stringAt(source, 'data') ?? ''
  if (files === 'bare') return { type: 'file', mediaType, data: url ?? data }
  return { type: 'file', mediaType, data: url ? { type: 'url', url } : { type: 'data', data } }
}
