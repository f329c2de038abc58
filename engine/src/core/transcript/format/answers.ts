// Reads what an assistant line says about its answer. One answer is stored as several lines with the same message id
// and repeated usage.
import { isObject, type JsonObject } from '../../message/json.ts'
import { readUsage, type Usage } from '../../message/usage.ts'
import { isSynthetic } from './origin.ts'

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

/** The same from the message of an assistant line that a model wrote; `known` is a usage that it may repeat. */
export function answerIn({ id, model, usage: reported }: JsonObject, known?: Usage): AnswerLine | undefined {
  const usage = typeof id === 'string' ? readUsage(reported, known) : undefined
  if (typeof id !== 'string' || usage === undefined) return undefined
  return { messageId: id, model: typeof model === 'string' ? model : 'unknown', usage }
}
