// A response as the events of a stream: created, its items chunk by chunk, completed.
import { arrayAt, isObject, type JsonObject, stringAt } from 'everlong/internal'
import { pieces } from '../../answer/pieces.ts'
import { type Answered, emptyResponse, responseBody } from './write.ts'

type Event = JsonObject & { readonly type: string }

export function* responseEvents(answered: Answered): Generator<Event> {
  const response = responseBody(answered)
  yield* numbered([
    ...opening(emptyResponse(answered)),
    ...answered.output.flatMap((item, at) => itemEvents(item, at)),
    { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response },
  ])
}

export type Failed = Pick<Answered, 'id' | 'created' | 'body'> & {
  readonly error: { readonly code: string; readonly message: string; readonly param: string | null }
}

/** A stream that began with 200 and ends in an error. */
export function* failedEvents(failed: Failed): Generator<Event> {
  const { code, message } = failed.error
  const response = { ...emptyResponse(failed), status: 'failed', error: { code, message } }
  yield* numbered([
    ...opening(emptyResponse(failed)),
    { type: 'error', error: { type: 'invalid_request_error', ...failed.error } },
    { type: 'response.failed', response },
  ])
}

function opening(response: JsonObject): readonly Event[] {
  return [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
  ]
}

function* numbered(events: Iterable<Event>): Generator<Event> {
  let sequence_number = 0
  for (const event of events) yield { ...event, sequence_number: sequence_number++ }
}

function itemEvents(item: JsonObject, output_index: number): readonly Event[] {
  const place = { item_id: item.id, output_index }
  return [
    { type: 'response.output_item.added', output_index, item: begun(item) },
    ...inside(item).map((event) => ({ ...event, ...place })),
    { type: 'response.output_item.done', output_index, item },
  ]
}

/** The announced item, before its content has arrived. */
function begun(item: JsonObject): JsonObject {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' }
    case 'reasoning':
      return { ...item, summary: [] }
    default:
      return item
  }
}

function inside(item: JsonObject): readonly Event[] {
  switch (item.type) {
    case 'message':
      return arrayAt(item, 'content').filter(isObject).flatMap(textEvents)
    case 'function_call':
      return callEvents('response.function_call_arguments', 'arguments', item)
    case 'custom_tool_call':
      return callEvents('response.custom_tool_call_input', 'input', item)
    case 'compaction':
      return [{ type: 'response.compaction.compacting' }]
    default:
      return arrayAt(item, 'summary').filter(isObject).flatMap(summaryEvents)
  }
}

function textEvents(part: JsonObject, content_index: number): readonly Event[] {
  const text = stringAt(part, 'text') ?? ''
  return [
    { type: 'response.content_part.added', content_index, part: { ...part, text: '' } },
    ...[...pieces(text)].map((delta) => ({ type: 'response.output_text.delta', content_index, delta, logprobs: [] })),
    { type: 'response.output_text.done', content_index, text, logprobs: [] },
    { type: 'response.content_part.done', content_index, part },
  ]
}

function callEvents(prefix: string, field: 'arguments' | 'input', item: JsonObject): readonly Event[] {
  const words = stringAt(item, field) ?? ''
  return [
    ...[...pieces(words)].map((delta) => ({ type: `${prefix}.delta`, delta })),
    { type: `${prefix}.done`, name: item.name, [field]: words },
  ]
}

function summaryEvents(part: JsonObject, summary_index: number): readonly Event[] {
  const text = stringAt(part, 'text') ?? ''
  const prefix = 'response.reasoning_summary'
  return [
    { type: `${prefix}_part.added`, summary_index, part: { ...part, text: '' } },
    ...[...pieces(text)].map((delta) => ({ type: `${prefix}_text.delta`, summary_index, delta })),
    { type: `${prefix}_text.done`, summary_index, text },
    { type: `${prefix}_part.done`, summary_index, part },
  ]
}
