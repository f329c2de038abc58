// From entries to messages, one for each: who said what, in order. Client notes and progress are left out, and tool
// results that a micro-compaction cleared are blank. The fold makes of them what a request carries, edits and all.
import { type Block, blocksOf, isMedia, isText, isToolResult, type ToolResultBlock } from '../../message/block.ts'
import { isObject, type JsonObject, objectAt, stringAt, stringsAt } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'
import type { Usage } from '../../message/usage.ts'
import { neutralizeReminders } from '../../text/neutralize.ts'
import { answerIn } from './answers.ts'
import type { Entry } from './entry.ts'
import { isSynthetic, originOf, saidIn } from './origin.ts'
import { timeIn } from './time.ts'

export const clearedText = '[Old tool result content cleared]'

export function messagesOf(entries: readonly Entry[]): readonly ViewMessage[] {
  const cleared = clearedResults(entries)
  return entries
    .map(({ record }) => messageOf(record))
    .filter((message) => message !== undefined)
    .map((message) =>
      withoutResults(message, ({ tool_use_id }) => (cleared.has(tool_use_id) ? clearedText : undefined)),
    )
}

function clearedResults(entries: readonly Entry[]): ReadonlySet<string> {
  const cleared = new Set<string>()
  for (const { record } of entries) {
    if (record.subtype !== 'microcompact_boundary') continue
    for (const id of stringsAt(objectAt(record, 'microcompactMetadata'), 'compactedToolIds')) cleared.add(id)
  }
  return cleared
}

/**
 * What one record puts into the conversation, as it was written; undefined when a model sees nothing of it. `known` is a
 * usage that was read before, and that this one may repeat.
 */
export function messageOf(record: JsonObject, known?: Usage): ViewMessage | undefined {
  const origin = originOf(record)
  if (origin === undefined || isSynthetic(record)) return undefined
  if (origin === 'attachment') return attachmentMessage(record)
  const { uuid } = record
  const message = isObject(record.message) ? record.message : undefined
  const answer = origin === 'assistant' && message ? answerIn(message, known) : undefined
  const time = timeOf(record)
  const role = origin === 'assistant' ? 'assistant' : 'user'
  const said = saidIn(record)
  const content = origin === 'summary' ? summaryContent(said) : contentOf(said)
  // Records that say all there is to say are the rule: made at one stroke, their messages are smaller.
  if (typeof uuid === 'string' && !Number.isNaN(time)) {
    if (answer) {
      const { messageId, model, usage } = answer
      return { role, content, origin, uuid, time, messageId, model, usage }
    }
    if (role === 'user' && typeof message?.id !== 'string') return { role, content, origin, uuid, time }
  }
  return {
    role,
    content,
    origin,
    ...(typeof uuid === 'string' ? { uuid } : {}),
    ...(Number.isNaN(time) ? {} : { time }),
    ...(typeof message?.id === 'string' ? { messageId: message.id } : {}),
    ...(answer ? { model: answer.model, usage: answer.usage } : modelIn(origin, message)),
  }
}

/** Of an answer that came without usage. */
function modelIn(origin: ViewMessage['origin'], message: JsonObject | undefined): Pick<ViewMessage, 'model'> {
  const model = origin === 'assistant' ? stringAt(message, 'model') : undefined
  return model === undefined ? {} : { model }
}

function timeOf({ timestamp }: JsonObject): number {
  return typeof timestamp === 'string' ? timeIn(timestamp) : Number.NaN
}

function contentOf(content: unknown): ViewMessage['content'] {
  return typeof content === 'string' ? content : blocksOf(content)
}

/** A summary is told by us, whoever wrote the record: what it quotes must not read as an instruction of the client. */
function summaryContent(content: unknown): ViewMessage['content'] {
  if (typeof content === 'string') return neutralizeReminders(content)
  return blocksOf(content).map((block) => (isText(block) ? { ...block, text: neutralizeReminders(block.text) } : block))
}

/** The message with other content in the place of some results; the very same when it holds none of them. */
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

/** Kinds that only the client reads. */
const unseen = new Set(['command_permissions', 'async_hook_response', 'hook_non_blocking_error', 'structured_output'])

/** What the client injected. A prompt typed while the agent worked lives only in such a record. */
function attachmentMessage(record: JsonObject): ViewMessage | undefined {
  const attachment = objectAt(record, 'attachment')
  const kind = stringAt(attachment, 'type') ?? 'unknown'
  const content = attachmentContent(attachment, kind)
  if (content === '' || unseen.has(kind)) return undefined
  const isTyped = kind === 'queued_command' && attachment?.commandMode !== 'task-notification'
  const origin = isTyped ? 'human' : 'attachment'
  const { uuid } = record
  const time = timeOf(record)
  if (typeof uuid === 'string' && !Number.isNaN(time)) {
    return { role: 'user', content, origin, attachment: kind, uuid, time }
  }
  return {
    role: 'user',
    content,
    origin,
    attachment: kind,
    ...(typeof uuid === 'string' ? { uuid } : {}),
    ...(Number.isNaN(time) ? {} : { time }),
  }
}

function attachmentContent(attachment: JsonObject | undefined, kind: string): ViewMessage['content'] {
  if (!attachment) return ''
  if (kind === 'queued_command') return contentOf(attachment.prompt)
  if (typeof attachment.content === 'string') return attachment.content
  if (isContent(attachment.content)) return attachment.content
  const { type: _, ...rest } = attachment
  return Object.keys(rest).length === 0 ? '' : JSON.stringify(rest)
}

/** Blocks that a request can carry as they are; other lists are the client's own. */
function isContent(content: unknown): content is readonly Block[] {
  const blocks = blocksOf(content)
  return Array.isArray(content) && blocks.length > 0 && blocks.length === content.length && blocks.every(isShown)
}

function isShown(block: Block): boolean {
  return isText(block) || isMedia(block)
}
