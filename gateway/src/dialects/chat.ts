// Chat completions of OpenAI and compatible servers.
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from 'everlong/internal'
import { ChatAccumulator, chatConverter, chatUsage, convert } from 'everlong/internal/wire'
import { type Answered, type Asked, type Dialect, maxMessages } from './dialect.ts'

const converter = chatConverter()

export const chat: Dialect = {
  name: 'chat',
  shape: 'openai',
  readRequest,
  readAnswer,
  readUsage: (events) => {
    const reported = reportedIn(events)
    return reported && chatUsage(reported)
  },
}

/** In a stream, only the last event has it, and only if the client asked for it. */
function reportedIn(events: readonly unknown[]): JsonObject | undefined {
  return events.map((event) => objectAt(event, 'usage')).findLast((usage) => usage !== undefined)
}

function readRequest(body: JsonObject): Asked | undefined {
  const list = arrayAt(body, 'messages')
  if (list.length === 0 || list.length > maxMessages) return undefined
  if (!list.every((message) => isObject(message) && typeof message.role === 'string')) return undefined
  const { head, known } = convert(converter, list as never)
  return {
    model: stringAt(body, 'model') ?? '',
    system: head,
    tools: arrayAt(body, 'tools').filter(isObject),
    messages: known.map(({ foreign: _, ...message }) => message),
    isStreamed: body.stream === true,
  }
}

function readAnswer(events: readonly unknown[]): Answered | undefined {
  const accumulator = new ChatAccumulator()
  for (const event of events) accumulator.add(event)
  if (!accumulator.isComplete()) return undefined
  const { id, model, content, stopReason, usage, extra = {} } = accumulator.answer()
  const reported = reportedIn(events)
  return { id, model, content, stopReason, usage, raw: { ...extra, ...(reported ? { usage: reported } : {}) } }
}
