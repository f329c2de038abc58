// Turns entries into messages, one each: who said what, in order, and the usage of answers. Client notes and progress are left
// out, and tool results that a micro-compaction cleared are blank. The fold makes requests of them.

import { isObject, type JsonObject, objectAt, stringAt, stringsAt } from '../../message/json.ts'
import {
  blocksOf,
  isText,
  isToolResult,
  type Origin,
  type Role,
  type ToolResultBlock,
  textOf,
  type ViewMessage,
} from '../../message/message.ts'
import { readableBlocks } from '../../message/readable.ts'
import { readUsage, type Usage } from '../../message/usage.ts'
import { neutralizeReminders } from '../../text/neutralize.ts'
import { attachmentContent } from './attachments.ts'
import { readBoundary } from './compaction-records.ts'
import type { Entry } from './entry.ts'

export const clearedText = '[Old tool result content cleared]'
/**
 * In characters. The text that replaces a cleared result, with the id for recall, is never longer. A longer result only imitates
 * one.
 */
const maxCleared = 1_000

export function isClearedText(text: string): boolean {
  return text.length <= maxCleared && text.startsWith(clearedText)
}

export function messagesOf(entries: readonly Entry[]): readonly ViewMessage[] {
  const cleared = new Set(
    entries.flatMap(({ record }) =>
      record.subtype === 'microcompact_boundary'
        ? stringsAt(objectAt(record, 'microcompactMetadata'), 'compactedToolIds')
        : [],
    ),
  )
  return entries.flatMap(({ record }) => {
    const message = messageOf(record)
    if (!message) return []
    return withoutResults(message, ({ tool_use_id }) => (cleared.has(tool_use_id) ? clearedText : undefined))
  })
}

/** Undefined if a model sees nothing of the record. */
export function messageOf(record: JsonObject): ViewMessage | undefined {
  const origin = originOf(record)
  if (origin === undefined || isSynthetic(record)) return undefined
  const { uuid, timestamp } = record
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  const found = origin === 'attachment' ? attachmentMessage(record) : spokenMessage(record, origin)
  if (found && typeof uuid === 'string') found.uuid = uuid
  if (found && !Number.isNaN(time)) found.time = time
  return found
}

type MutableMessage = { -readonly [K in keyof ViewMessage]: ViewMessage[K] }

function spokenMessage(record: JsonObject, origin: Origin): MutableMessage {
  const said = saidIn(record)
  const role = origin === 'assistant' ? 'assistant' : 'user'
  const content = origin === 'summary' ? summaryContent(said) : contentOf(said, role)
  const found: MutableMessage = { role, content, origin }
  const { id, model } = objectAt(record, 'message') ?? {}
  if (typeof id === 'string') found.messageId = id
  if (origin !== 'assistant') return found
  const answer = readAnswerLine(record)
  if (answer) found.usage = answer.usage
  if (answer || typeof model === 'string') found.model = answer?.model ?? String(model)
  return found
}

function contentOf(content: unknown, role: Role): ViewMessage['content'] {
  return typeof content === 'string' ? content : readableBlocks(blocksOf(content), role)
}

/** We introduce every summary ourselves, so that quoted text in it cannot pass for an instruction of the client. */
function summaryContent(content: unknown): ViewMessage['content'] {
  if (typeof content === 'string') return neutralizeReminders(content)
  return blocksOf(content).map((block) => (isText(block) ? { ...block, text: neutralizeReminders(block.text) } : block))
}

/** The message with some results replaced; the same object if it has none of them. */
export function withoutResults(
  message: ViewMessage,
  contentFor: (result: ToolResultBlock) => ToolResultBlock['content'] | undefined,
): ViewMessage {
  if (message.origin !== 'tool-result' || typeof message.content === 'string') return message
  let isCleared = false
  const content = message.content.map((block) => {
    const instead = isToolResult(block) ? contentFor(block) : undefined
    if (instead === undefined || instead === block.content) return block
    isCleared = true
    return { ...block, content: instead }
  })
  return isCleared ? { ...message, content } : message
}

/** Context that the client injected. A prompt that was typed while the agent worked exists only in such a record. */
function attachmentMessage(record: JsonObject): MutableMessage | undefined {
  const attachment = objectAt(record, 'attachment') ?? {}
  const kind = stringAt(attachment, 'type') ?? 'unknown'
  const content = attachmentContent(attachment)
  if (content.length === 0) return undefined
  const isTyped = kind === 'queued_command' && attachment.commandMode !== 'task-notification'
  return { role: 'user', content, origin: isTyped ? 'human' : 'attachment', attachment: kind }
}

/** Texts that clients add as the user: output of commands, notices, reminders. */
const clientMade =
  /^\s*(<(local-command-stdout|local-command-stderr|local-command-caveat|bash-stdout|bash-stderr|task-notification|system-reminder|user-prompt-submit-hook)\b|\[Request interrupted by user)/

/** The content of a record of the conversation. The oldest clients wrote a text instead of a message. */
export function saidIn({ message }: JsonObject): unknown {
  return isObject(message) ? message.content : typeof message === 'string' ? message : undefined
}

export function originOf(record: JsonObject): Origin | undefined {
  const { type } = record
  if (type === 'assistant') return 'assistant'
  if (type === 'attachment') return 'attachment'
  if (type !== 'user') return undefined
  if (record.isCompactSummary === true) return 'summary'
  const content = saidIn(record)
  if (typeof content === 'string') return speakerOf(record, content)
  const blocks = blocksOf(content)
  if (blocks.some(isToolResult)) return 'tool-result'
  // Clients put blocks of their own before or after what the user said.
  const texts = blocks.filter(isText).map(({ text }) => text)
  return speakerOf(record, texts.find((text) => !clientMade.test(text)) ?? texts[0] ?? '')
}

function speakerOf(record: JsonObject, text: string): 'human' | 'agent' | 'meta' {
  if (record.isMeta === true || record.promptSource === 'system') return 'meta'
  const kind = stringAt(objectAt(record, 'origin'), 'kind')
  if (kind === 'human' || kind === 'agent') return kind
  return kind !== undefined || clientMade.test(text) ? 'meta' : 'human'
}

/** Answers made by the client ("No response requested.", API errors): no model wrote or sees them. */
export function isSynthetic(record: JsonObject): boolean {
  const { message } = record
  return (isObject(message) && message.model === '<synthetic>') || record.isApiErrorMessage === true
}

/** The answer that one line belongs to. An answer may be stored as several lines with the same message id and usage. */
export type AnswerLine = {
  readonly messageId: string
  readonly model: string
  readonly usage: Usage
}

/** Undefined if the record is not an answer of a model, or has no usage. */
export function readAnswerLine(record: JsonObject): AnswerLine | undefined {
  const { type, message } = record
  if (type !== 'assistant' || !isObject(message) || typeof message.id !== 'string' || isSynthetic(record))
    return undefined
  const usage = readUsage(message.usage)
  return usage && { messageId: message.id, model: stringAt(message, 'model') ?? 'unknown', usage }
}

/**
 * Text that the user typed while the agent was working. Older clients recorded it only as a queue operation: the model saw
 * it, but no message contains it.
 */
export type QueuedWords = {
  readonly text: string
  /** The newest message at the time it was typed. */
  readonly after?: string
}

/** Since the last compaction, oldest first, without texts that became messages. */
export function queuedWords(entries: readonly Entry[]): readonly QueuedWords[] {
  const start = entries.findLastIndex(({ record }) => readBoundary(record) !== undefined) + 1
  const recent = entries.slice(start)
  let after: string | undefined
  const queued = recent.flatMap(({ record }): readonly QueuedWords[] => {
    if (record.type === 'user' || record.type === 'assistant') after = stringAt(record, 'uuid') ?? after
    if (record.type !== 'queue-operation' || record.operation !== 'enqueue') return []
    const text = stringAt(record, 'content')?.trim() ?? ''
    return text === '' ? [] : [{ text, ...(after === undefined ? {} : { after }) }]
  })
  if (queued.length === 0) return []
  const said = new Set(
    recent.flatMap(({ record }) => {
      const message = record.type === 'user' || record.type === 'attachment' ? messageOf(record) : undefined
      return message?.origin === 'human' ? [textOf(message.content).trim()] : []
    }),
  )
  return queued.filter(({ text }) => !said.has(text))
}
