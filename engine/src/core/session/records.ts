// From what a host hands in to records of the transcript, in the Claude Code format. Ids and time are handed in; a
// record hangs on the one before it.
import { type Block, blocksOf, isMedia, isText, isToolResult } from '../message/block.ts'
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
    return [{ type: 'attachment', attachment: { type: message.attachment ?? 'context', content: attached(content) } }]
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

/** One text where it is nothing but text; images and documents stay what they are. */
function attached(content: GivenMessage['content']): string | readonly Block[] {
  const blocks = blocksOf(content).map((block): Block => {
    return isText(block) || isMedia(block) ? block : { type: 'text', text: JSON.stringify(block) }
  })
  return blocks.every(isText) ? blocks.map(({ text }) => text).join('\n') : blocks
}

/** `usage` of an answer that was given on another view counts for the bill, and no longer for the size. */
export function answerBody(message: AnswerMessage, options: { readonly isOutdated?: boolean } = {}): Body {
  if (!options.isOutdated) return { type: 'assistant', message }
  const { usage, ...rest } = message
  return { type: 'assistant', message: rest, everlong: { usage } }
}
