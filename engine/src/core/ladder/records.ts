// From what a host hands in to records of the transcript, in the Claude Code format. Ids and time are handed in; a
// record hangs on the one before it.
import { blocksOf, isToolResult } from '../message/block.ts'
import type { JsonObject } from '../message/json.ts'
import { type AnswerMessage, contentOf, type GivenMessage } from './given.ts'

/** What every record carries, and where the next one hangs. */
export type Stamp = {
  readonly uuid: string
  readonly parentUuid: string | null
  readonly timestamp: string
  readonly sessionId: string
  readonly envelope: JsonObject
}

export type Body = JsonObject & { readonly type: string }

export function stamped(body: Body, { uuid, parentUuid, timestamp, sessionId, envelope }: Stamp): JsonObject {
  return { parentUuid, isSidechain: false, ...envelope, sessionId, ...body, uuid, timestamp }
}

/**
 * The records a message becomes. Results and what a person typed beside them are two: one record has one origin, and a
 * person's words must be found again as such.
 */
export function messageBodies(message: GivenMessage): readonly Body[] {
  const content = contentOf(message.content)
  if (content.length === 0) return []
  if (message.role === 'assistant') {
    return [{ type: 'assistant', message: { type: 'message', role: 'assistant', content: blocksOf(content) } }]
  }
  if (message.origin === 'attachment') {
    return [{ type: 'attachment', attachment: { type: message.attachment ?? 'context', content: textIn(content) } }]
  }
  const results = typeof content === 'string' ? [] : content.filter(isToolResult)
  const others = typeof content === 'string' ? content : content.filter((block) => !isToolResult(block))
  const raw = message.toolUseResult === undefined ? {} : { toolUseResult: message.toolUseResult }
  return [
    ...(results.length > 0 ? [{ type: 'user', message: { role: 'user', content: results }, ...raw } as const] : []),
    ...(others.length > 0 ? [userBody(others, message.origin)] : []),
  ]
}

function userBody(content: unknown, origin: GivenMessage['origin']): Body {
  const marks = origin === 'meta' ? { isMeta: true } : origin === 'human' ? { origin: { kind: 'human' } } : {}
  return { type: 'user', ...marks, message: { role: 'user', content } }
}

function textIn(content: GivenMessage['content']): string {
  if (typeof content === 'string') return content
  return content.map((block) => ('text' in block ? String(block.text) : JSON.stringify(block))).join('\n')
}

/** `usage` of an answer that was given on another view counts for the bill, and no longer for the size. */
export function answerBody(message: AnswerMessage, options: { readonly isOutdated?: boolean } = {}): Body {
  if (!options.isOutdated) return { type: 'assistant', message }
  const { usage, ...rest } = message
  return { type: 'assistant', message: rest, everlong: { usage } }
}
