// Splits a record into the texts that are searched and read: a user message, an answer, thinking, a call, a result. The same
// record always gives the same texts in the same order, so a number identifies one.

import { isObject, type JsonObject, objectAt, stringAt } from '../../message/json.ts'
import { type Block, blocksOf, isMedia, isText, isToolResult, type Origin } from '../../message/message.ts'
import { pathsOf, toolCall } from '../../tools/call.ts'
import { isSynthetic, messageOf, originOf, saidIn } from './messages.ts'

/** The origins of messages, with an answer split into text, thinking and calls. */
export const textKinds = [
  'human',
  'assistant',
  'thinking',
  'tool-use',
  'tool-result',
  'summary',
  'attachment',
  'meta',
  'system',
  'agent',
] as const
export type TextKind = (typeof textKinds)[number]

export type RecordText = {
  readonly kind: TextKind
  readonly text: string
  readonly toolUseId?: string
  readonly tool?: string
  readonly paths?: readonly string[]
}

export function textsOf(record: JsonObject): readonly RecordText[] {
  const origin = isSynthetic(record) ? 'meta' : originOf(record)
  if (origin === 'attachment') return attachmentPieces(record)
  if (origin !== undefined) return spokenPieces(record, origin)
  // Old clients wrote the summary of a session as a record of its own.
  if (record.type === 'summary') return textPiece('summary', record.summary)
  return record.type === 'system' ? textPiece('system', record.content) : []
}

function textPiece(kind: TextKind, text: unknown): readonly RecordText[] {
  return typeof text === 'string' && text !== '' ? [{ kind, text }] : []
}

function spokenPieces(record: JsonObject, origin: Exclude<Origin, 'attachment'>): readonly RecordText[] {
  return blocksOf(saidIn(record)).flatMap((block): readonly RecordText[] => {
    if (isToolResult(block))
      return [{ kind: 'tool-result', text: readable(block.content), toolUseId: block.tool_use_id }]
    if (isText(block)) return textPiece(origin === 'tool-result' ? 'meta' : origin, block.text)
    if (block.type === 'thinking') return textPiece('thinking', block.thinking)
    if (block.type === 'redacted_thinking') return []
    if (block.type.endsWith('tool_use')) return [callPiece(block)]
    if (block.type.endsWith('tool_result')) return [serverResultPiece(block)]
    return textPiece(origin === 'tool-result' ? 'meta' : origin, readable([block]))
  })
}

function callPiece(block: Block): RecordText {
  const tool = stringAt(block, 'name') ?? block.type
  const id = stringAt(block, 'id')
  const paths = pathsOf(toolCall({ name: tool, input: block.input }))
  const text = `${tool}\n${readable(block.input)}`
  return { kind: 'tool-use', text, tool, paths, ...(id === undefined ? {} : { toolUseId: id }) }
}

/** The result of a provider's tool (web search, code execution), which is part of the answer itself. */
function serverResultPiece(block: Block): RecordText {
  const id = stringAt(block, 'tool_use_id')
  return { kind: 'tool-result', text: readable(block.content), ...(id === undefined ? {} : { toolUseId: id }) }
}

/** Only text that a model saw. A prompt that was typed while the agent worked counts as human. */
function attachmentPieces(record: JsonObject): readonly RecordText[] {
  const message = messageOf(record)
  if (message === undefined) return []
  const { type: _, ...attachment } = objectAt(record, 'attachment') ?? {}
  const kind = message.origin === 'human' ? 'human' : 'attachment'
  return textPiece(kind, kind === 'human' ? readable(message.content) : readable(attachment))
}

/** Any JSON as readable text: strings without quotes, media by their type and size. */
function readable(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value))
    return value
      .map(readable)
      .filter((part) => part !== '')
      .join('\n')
  if (!isObject(value)) return value === undefined || value === null ? '' : String(value)
  const block = value as Block
  if (typeof value.type === 'string' && isText(block)) return block.text
  if (typeof value.type === 'string' && isMedia(block)) return mediaText(block)
  return Object.entries(value)
    .map(([key, member]) => `${key}: ${readable(member)}`)
    .join('\n')
}

function mediaText(block: Block): string {
  const source = objectAt(block, 'source')
  const data = stringAt(source, 'data')
  if (stringAt(source, 'type') === 'text' && data !== undefined) return data
  const type = stringAt(source, 'media_type') ?? stringAt(source, 'url') ?? stringAt(source, 'type') ?? 'unknown'
  return `[${block.type} ${type}${data === undefined ? '' : `, ${data.length} characters of base64`}]`
}
