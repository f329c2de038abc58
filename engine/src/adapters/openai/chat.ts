// Converts messages of chat completions to ours and back. Unchanged parts stay exactly the same: annotations, names, audio, the
// bytes of a call's arguments.

import { fromChatCall, fromChatPart } from '../../core/message/chat-completions.ts'
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import { type Block, blocksOf, isText, isThinking, isToolUse, textOf } from '../../core/message/message.ts'
import type { Converted, Converter } from '../history/converter.ts'
import {
  describedPart,
  type MakeParts,
  onlyText,
  type ReadPart,
  readParts,
  textBlock,
  urlOf,
  wordsOf,
  writeParts,
  writeRuns,
} from '../parts.ts'

/** A message of chat completions in any SDK's types. */
export type ChatMessageLike = { readonly role: string }

/** System and developer messages at the beginning are the system prompt; later ones become notes of the client. */
export function chatConverter<Foreign extends ChatMessageLike = ChatMessageLike>(): Converter<Foreign> {
  return {
    isSystem: ({ role }) => isInstruction(role),
    read: (message) => readChatMessage(message as JsonObject),
    write: (message, originOf) =>
      writeRuns<Foreign>(message, originOf, {
        answer: (blocks, before) => [writeAnswer(blocks, before as JsonObject | undefined) as never],
        result: (block, before) => [writeResult(block, before as JsonObject | undefined) as never],
        said: (blocks, before) => [writeSaid(blocks, before as JsonObject | undefined) as never],
      }),
  }
}

function isInstruction(role: string): boolean {
  return role === 'system' || role === 'developer'
}

function readChatMessage(message: JsonObject): Converted {
  const blocks = readContent(message.content).map(({ block }) => block)
  if (isResult(message)) return { role: 'user', content: [resultOf(message)] }
  if (message.role === 'assistant') {
    return { role: 'assistant', content: [...blocks, ...readCalls(message).map(({ block }) => block)] }
  }
  return { role: 'user', content: blocks, ...(message.role === 'user' ? {} : { origin: 'meta' as const }) }
}

function resultOf(message: JsonObject): Block {
  const id = stringAt(message, 'tool_call_id') ?? stringAt(message, 'name') ?? ''
  const { content } = message
  const read = typeof content === 'string' ? content : readContent(content).map(({ block }) => block)
  return { type: 'tool_result', tool_use_id: id, content: read }
}

function readContent(content: unknown): readonly ReadPart<unknown>[] {
  return readParts(content, (part) => {
    const text = part.type === 'text' ? stringAt(part, 'text') : undefined
    if (text !== undefined) return textBlock(text)
    return fromChatPart(part) ?? describedPart(stringAt(part, 'type') ?? 'part', part)
  })
}

function readCalls(message: JsonObject): readonly ReadPart<JsonObject>[] {
  const calls = arrayAt(message, 'tool_calls').filter(isObject)
  return calls.map((part) => ({ block: fromChatCall(part), part }))
}

function writeSaid(blocks: readonly Block[], before: JsonObject | undefined): JsonObject {
  const own = before && before.role !== 'assistant' && !isResult(before) ? before : undefined
  return { ...(own ?? { role: 'user' }), content: writeContent(blocks, before?.content) }
}

function isResult({ role }: JsonObject): boolean {
  return role === 'tool' || role === 'function'
}

function writeAnswer(content: readonly Block[], before: JsonObject | undefined): JsonObject {
  const blocks = content.filter((block) => !isThinking(block))
  const calls = writeParts(blocks.filter(isToolUse), before ? readCalls(before) : [], makeCall)
  const said = blocks.filter((block) => !isToolUse(block))
  const was = before?.content
  const isEmpty = said.length === 0 && !Array.isArray(was)
  const { tool_calls: _, ...rest } = before ?? {}
  return {
    ...rest,
    role: 'assistant',
    ...(isEmpty ? emptyContent(before) : { content: writeContent(said, was) }),
    ...(calls.length > 0 || Array.isArray(before?.tool_calls) ? { tool_calls: calls } : {}),
  }
}

/** Servers have three ways to write no content. */
function emptyContent(before: JsonObject | undefined): JsonObject {
  if (before && !('content' in before)) return {}
  return { content: before?.content === '' ? '' : null }
}

function writeResult(block: Block, before: JsonObject | undefined): JsonObject {
  const own = before && isResult(before) && resultOf(before).tool_use_id === block.tool_use_id ? before : undefined
  const { content } = block
  const written = typeof content === 'string' ? content : writeContent(blocksOf(content), own?.content ?? [], makeText)
  return { ...(own ?? { role: 'tool', tool_call_id: block.tool_use_id }), content: written }
}

/** A single text is a string, as people and servers write it, unless it was a list before. */
function writeContent(blocks: readonly Block[], before: unknown, make: MakeParts<unknown> = makePart): unknown {
  if (Array.isArray(before)) return writeParts(blocks, readContent(before), make)
  return blocks.length === 0 && typeof before === 'string' ? '' : (onlyText(blocks) ?? writeParts(blocks, [], make))
}

function makePart(block: Block): readonly unknown[] {
  if (isText(block)) return [{ type: 'text', text: block.text }]
  const url = urlOf(block)
  if (url !== undefined && block.type === 'image') return [{ type: 'image_url', image_url: { url } }]
  if (url?.startsWith('data:')) {
    return [{ type: 'file', file: { filename: stringAt(block, 'title') ?? 'document.pdf', file_data: url } }]
  }
  return [{ type: 'text', text: textOf([block]) || `[${block.type}]` }]
}

/** Tools answer only in text here. */
function makeText(block: Block): readonly unknown[] {
  return [{ type: 'text', text: isText(block) ? block.text : `[${block.type}]` }]
}

function makeCall(block: Block, before: JsonObject | undefined): readonly JsonObject[] {
  const { id, name, input } = block
  const custom = objectAt(before, 'custom')
  if (custom) return [{ ...before, custom: { ...custom, input: customInput(input) } }]
  const made = { ...objectAt(before, 'function'), name, arguments: wordsOf(input) }
  return [{ ...(before ?? { id, type: 'function' }), function: made }]
}

function customInput(input: unknown): unknown {
  return isObject(input) && 'input' in input ? input.input : JSON.stringify(input ?? {})
}
