// The Messages API. Threads and compactions by the server are not read: their history is not in the request.
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from 'everlong/internal'
import { MessageAccumulator, messageConversion, readUsage } from 'everlong/internal/wire'
import { type Answered, type Asked, type Dialect, maxMessages } from './dialect.ts'
import { withoutReminders } from './reminders.ts'

const { converter } = messageConversion()

export const messages: Dialect = {
  name: 'messages',
  shape: 'messages',
  readRequest,
  readAnswer,
  readUsage: (events) => {
    let usage: JsonObject | undefined
    for (const event of events) {
      const reported = objectAt(objectAt(event, 'message') ?? event, 'usage')
      // A later null erases nothing.
      if (reported)
        usage = { ...usage, ...Object.fromEntries(Object.entries(reported).filter(([, one]) => one !== null)) }
    }
    return usage && readUsage(usage)
  },
}

function readRequest(body: JsonObject): Asked | undefined {
  const list = arrayAt(body, 'messages')
  if (isObject(body.thread) || list.length === 0 || list.length > maxMessages) return undefined
  if (!list.every(isMessage)) return undefined
  return {
    model: stringAt(body, 'model') ?? '',
    system: body.system,
    tools: arrayAt(body, 'tools').filter(isObject),
    messages: list.flatMap((message) => withoutReminders(converter.read(message as never))),
    isStreamed: body.stream === true,
  }
}

function isMessage(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.role === 'string' &&
    (typeof value.content === 'string' || (Array.isArray(value.content) && value.content.every(isObject)))
  )
}

function readAnswer(events: readonly unknown[]): Answered | undefined {
  const accumulator = new MessageAccumulator()
  try {
    for (const event of events) accumulator.add(event)
    const { id, model, content, stopReason, usage, extra = {} } = accumulator.answer()
    return { id, model, content, stopReason, usage, raw: extra }
  } catch {
    // It broke off, or its events do not fit together, so there is no answer to store.
    return undefined
  }
}
