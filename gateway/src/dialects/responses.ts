// The Responses API. A conversation that the server holds (previous_response_id, conversation) is not in the request and not read.
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from 'everlong/internal'
import { convert, groupItems, itemConverter, responsesUsage } from 'everlong/internal/wire'
import { type Answered, type Asked, type Dialect, maxMessages } from './dialect.ts'

const converter = itemConverter('responses')

export const responses: Dialect = {
  name: 'responses',
  shape: 'openai',
  readRequest,
  readAnswer,
  readUsage: (events) => {
    const response = events.map(responseIn).findLast((one) => objectAt(one, 'usage') !== undefined)
    return response && responsesUsage(response)
  },
}

function readRequest(body: JsonObject): Asked | undefined {
  if (typeof body.previous_response_id === 'string' || (body.conversation ?? null) !== null) return undefined
  const items = itemsOf(body.input)
  if (!items) return undefined
  const { head, known } = convert(converter, groupItems(items))
  return {
    model: stringAt(body, 'model') ?? '',
    system: [stringAt(body, 'instructions') ?? '', head],
    tools: arrayAt(body, 'tools').filter(isObject),
    messages: known.map(({ foreign: _, ...message }) => message),
    isStreamed: body.stream === true,
  }
}

/** Undefined if it is empty or has an unknown shape. */
function itemsOf(input: unknown): readonly object[] | undefined {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  const isReadable = Array.isArray(input) && input.length > 0 && input.length <= maxMessages && input.every(isObject)
  return isReadable ? input : undefined
}

/** The last event of a stream has the whole response; a plain answer is the response. */
function responseIn(event: unknown): JsonObject | undefined {
  if (stringAt(event, 'object') === 'response') return event as JsonObject
  const isEnd = /^response\.(completed|incomplete|failed)$/.test(stringAt(event, 'type') ?? '')
  return isEnd ? objectAt(event, 'response') : undefined
}

function readAnswer(events: readonly unknown[]): Answered | undefined {
  const response = events.map(responseIn).findLast((one) => one !== undefined)
  const status = stringAt(response, 'status')
  if (!response || (status !== 'completed' && status !== 'incomplete')) return undefined
  const items = arrayAt(response, 'output').filter(isObject)
  const content = groupItems(items).flatMap((group) => converter.read(group).content)
  const isCalling = content.some(({ type }) => type === 'tool_use')
  return {
    id: stringAt(response, 'id') ?? '',
    model: stringAt(response, 'model') ?? '',
    content,
    stopReason: status === 'incomplete' ? 'max_tokens' : isCalling ? 'tool_use' : 'end_turn',
    usage: responsesUsage(response),
    raw: { usage: response.usage },
  }
}
