// From entries to the messages a model would see: who said what, in order. Client notes and progress are left out,
// and tool results that a micro-compaction cleared are blank, though they lie complete on disk.
import { blocksOf, isToolResult } from '../message/block.ts'
import { type JsonObject, objectAt, stringAt, stringsAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { readAnswerLine } from './answers.ts'
import type { Entry } from './entry.ts'
import { isSynthetic, originOf } from './origin.ts'

export const clearedText = '[Old tool result content cleared]'

export function messagesOf(entries: readonly Entry[]): readonly ViewMessage[] {
  const cleared = clearedResults(entries)
  return entries.map(({ record }) => messageOf(record, cleared)).filter((message) => message !== undefined)
}

function clearedResults(entries: readonly Entry[]): ReadonlySet<string> {
  const cleared = new Set<string>()
  for (const { record } of entries) {
    if (record.subtype !== 'microcompact_boundary') continue
    for (const id of stringsAt(objectAt(record, 'microcompactMetadata'), 'compactedToolIds')) cleared.add(id)
  }
  return cleared
}

function messageOf(record: JsonObject, cleared: ReadonlySet<string>): ViewMessage | undefined {
  const origin = originOf(record)
  if (origin === undefined || isSynthetic(record)) return undefined
  if (origin === 'attachment') return attachmentMessage(record)
  const message = objectAt(record, 'message')
  const answer = readAnswerLine(record)
  return {
    role: origin === 'assistant' ? 'assistant' : 'user',
    content: origin === 'tool-result' ? withoutCleared(message?.content, cleared) : contentOf(message?.content),
    origin,
    ...placeOf(record),
    ...(typeof message?.id === 'string' ? { messageId: message.id } : {}),
    ...(answer ? { model: answer.model, usage: answer.usage } : {}),
  }
}

function placeOf(record: JsonObject): Pick<ViewMessage, 'uuid' | 'time'> {
  const time = Date.parse(stringAt(record, 'timestamp') ?? '')
  return {
    ...(typeof record.uuid === 'string' ? { uuid: record.uuid } : {}),
    ...(Number.isNaN(time) ? {} : { time }),
  }
}

function contentOf(content: unknown): ViewMessage['content'] {
  return typeof content === 'string' ? content : blocksOf(content)
}

function withoutCleared(content: unknown, cleared: ReadonlySet<string>): ViewMessage['content'] {
  const isCleared = blocksOf(content).some((block) => isToolResult(block) && cleared.has(block.tool_use_id))
  if (!isCleared) return contentOf(content)
  return blocksOf(content).map((block) =>
    isToolResult(block) && cleared.has(block.tool_use_id) ? { ...block, content: clearedText } : block,
  )
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
  return { role: 'user', content, origin: isTyped ? 'human' : 'attachment', attachment: kind, ...placeOf(record) }
}

function attachmentContent(attachment: JsonObject | undefined, kind: string): ViewMessage['content'] {
  if (!attachment) return ''
  if (kind === 'queued_command') return contentOf(attachment.prompt)
  if (typeof attachment.content === 'string') return attachment.content
  const { type: _, ...rest } = attachment
  return Object.keys(rest).length === 0 ? '' : JSON.stringify(rest)
}
