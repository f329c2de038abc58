// Who put a record into the conversation, and what an answer reports. The format marks user records only in part, so the
// text's own marks help.
import { blocksOf, isText, isToolResult } from '../../message/block.ts'
import { isObject, type JsonObject, objectAt, stringAt } from '../../message/json.ts'
import type { Origin } from '../../message/message.ts'
import { readUsage, type Usage } from '../../message/usage.ts'

/** Texts that clients put in the person's mouth: output of commands, notices, reminders. */
const clientMade =
  /^\s*(<(local-command-stdout|local-command-stderr|local-command-caveat|bash-stdout|bash-stderr|task-notification|system-reminder|user-prompt-submit-hook)\b|\[Request interrupted by user)/

/** What a record of the conversation says. The oldest clients wrote a text in the place of the message. */
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
  return speakerOf(record, blocks.find(isText)?.text ?? '')
}

function speakerOf(record: JsonObject, text: string): 'human' | 'agent' | 'meta' {
  if (record.isMeta === true || record.promptSource === 'system') return 'meta'
  const kind = stringAt(objectAt(record, 'origin'), 'kind')
  if (kind === 'human' || kind === 'agent') return kind
  return kind !== undefined || clientMade.test(text) ? 'meta' : 'human'
}

/** Client-made answers ("No response requested.", API errors): no model wrote them and none sees them. */
export function isSynthetic(record: JsonObject): boolean {
  const { message } = record
  return (isObject(message) && message.model === '<synthetic>') || record.isApiErrorMessage === true
}

/** What one line says about its answer, which may be stored as several lines with the same message id and usage. */
export type AnswerLine = {
  readonly messageId: string
  readonly model: string
  readonly usage: Usage
}

/** Undefined when the record is no answer of a model, or carries no usage. */
export function readAnswerLine(record: JsonObject): AnswerLine | undefined {
  const message = record.message
  if (record.type !== 'assistant' || !isObject(message)) return undefined
  return isSynthetic(record) ? undefined : answerIn(message)
}

/** The same from the message of an assistant line that a model wrote. */
export function answerIn({ id, model, usage: reported }: JsonObject): AnswerLine | undefined {
  const usage = typeof id === 'string' ? readUsage(reported) : undefined
  if (typeof id !== 'string' || usage === undefined) return undefined
  return { messageId: id, model: typeof model === 'string' ? model : 'unknown', usage }
}
