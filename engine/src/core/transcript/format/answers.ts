// API answers. One answer is stored as several lines with the same message id and repeated usage: it counts once,
// with the figures of the line that has the most output (old clients wrote streaming stubs first).
import { isObject, type JsonObject } from '../../message/json.ts'
import { readUsage, type Usage } from '../../message/usage.ts'
import { isSynthetic } from './origin.ts'

/** What one assistant line says about its answer. */
export type AnswerLine = {
  readonly messageId: string
  readonly model: string
  readonly usage: Usage
}

export type Answer = AnswerLine & {
  /** The epoch its first line lies in. */
  readonly epoch: number
  readonly sidechain: boolean
  readonly lines: number
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

export type AnswerBook = {
  readonly add: (line: AnswerLine, from: { readonly epoch: number; readonly sidechain: boolean }) => void
  readonly answers: () => readonly Answer[]
}

export function createAnswerBook(): AnswerBook {
  const byId = new Map<string, { -readonly [K in keyof Answer]: Answer[K] }>()
  return {
    answers: () => [...byId.values()],
    add: (line, from) => {
      const known = byId.get(line.messageId)
      if (known) {
        if (line.usage.output >= known.usage.output) known.usage = line.usage
        known.lines++
      } else byId.set(line.messageId, { ...line, epoch: from.epoch, sidechain: from.sidechain, lines: 1 })
    },
  }
}
