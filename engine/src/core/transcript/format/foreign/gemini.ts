// Sessions of the Gemini CLI. A line is a message, a change of the metadata (`$set`) or a rewind (`$rewindTo`); older versions
// wrote one document with all messages. A message is written again when it grows: then only the new part is read. A
// compression replaces all messages and begins with a snapshot.
import { arrayAt, defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../../message/json.ts'
import type { Entry, Position, RecordReader } from '../entry.ts'
import { assistantRecord, type Chain, createChain, resultRecord, userRecord } from './chain.ts'

type State = {
  readonly chain: Chain
  /** The part of each message that was read, by message id. */
  readonly read: Map<string, { pieces: number; hasText: boolean; hasUsage: boolean; readonly calls: Set<string> }>
}

export function createGeminiReader(): RecordReader {
  const state: State = { chain: createChain(), read: new Map() }
  return (record, position) => {
    const rewound = stringAt(record, '$rewindTo')
    if (rewound !== undefined) {
      const uuid = `gemini-${position.line}-${position.nth}`
      return [{ record, position }, ...state.chain.rewindBefore(rewound, { uuid, position })]
    }
    const replaced = objectAt(record, '$set')?.messages
    if (Array.isArray(replaced))
      return [{ record, position }, ...replacement(replaced.filter(isObject), state, position)]
    if (typeof record.id === 'string' && typeof record.type === 'string') return pieces(record, state, position)
    if ('projectHash' in record) state.chain.know(defined({ sessionId: stringAt(record, 'sessionId') }))
    const all = arrayAt(record, 'messages').filter(isObject)
    return [{ record, position }, ...all.flatMap((message) => pieces(message, state, position))]
  }
}

/** A compression, or another history that replaces this one, such as the client's initial one. */
function replacement(messages: readonly JsonObject[], state: State, position: Position): readonly Entry[] {
  // Text of the client may come before it.
  const snapshot = messages.find(({ content }) => textOf(content).includes('<state_snapshot>'))
  const uuid = `gemini-${position.line}-${position.nth}`
  // It may contain the same messages again, with the same ids.
  const named = (message: JsonObject) => ({ ...message, id: `${String(message.id)}-${position.line}` })
  if (!snapshot) {
    state.chain.goTo(null)
    return messages.flatMap((message) => pieces(named(message), state, position))
  }
  const place = { uuid, timestamp: snapshot.timestamp, position }
  const compacted = state.chain.compact({ summary: textOf(snapshot.content), metadata: { trigger: 'unknown' } }, place)
  const rest = messages.filter((message) => message !== snapshot)
  return [...compacted, ...rest.flatMap((message) => pieces(named(message), state, position))]
}

const clientMade = /^\s*<session_context>/

/** The part of a message that was not read yet. */
function pieces(message: JsonObject, { chain, read }: State, position: Position): readonly Entry[] {
  const id = String(message.id)
  const known = read.get(id) ?? { pieces: 0, hasText: false, hasUsage: false, calls: new Set<string>() }
  read.set(id, known)
  const add = (record: JsonObject) => {
    const uuid = known.pieces++ === 0 ? id : `${id}-${known.pieces}`
    return chain.add(record, { uuid, timestamp: message.timestamp, position })
  }
  const text = textOf(message.content)
  if (message.type === 'user') {
    if (known.pieces > 0 || text === '') return []
    return [add(userRecord(text, clientMade.test(text)))]
  }
  if (message.type !== 'gemini') return []
  const calls = arrayAt(message, 'toolCalls')
    .filter(isObject)
    .filter((call) => !known.calls.has(String(call.id)))
  for (const call of calls) known.calls.add(String(call.id))
  const usage = known.hasUsage ? undefined : usageOf(objectAt(message, 'tokens'))
  const content = [
    ...(known.hasText || text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: isObject(args) ? args : {} })),
  ]
  known.hasText ||= text !== ''
  known.hasUsage ||= usage !== undefined
  if (content.length === 0 && usage === undefined) return []
  const answer = add(assistantRecord({ id, model: message.model, content, ...defined({ usage }) }))
  return calls.length === 0 ? [answer] : [answer, add(resultRecord(calls.map(resultOf)))]
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content : [content]
  return parts.flatMap((part) => (typeof part === 'string' ? [part] : (stringAt(part, 'text') ?? []))).join('\n')
}

function resultOf({ id, result, status }: JsonObject): JsonObject {
  const parts = Array.isArray(result) ? result : [result]
  const texts = parts.flatMap((part) => {
    const response = objectAt(objectAt(part, 'functionResponse'), 'response')
    if (!response) return textOf(part) === '' ? [] : [textOf(part)]
    return [stringAt(response, 'output') ?? stringAt(response, 'error') ?? JSON.stringify(response)]
  })
  const isFailed = status === 'error' || status === 'cancelled'
  return { tool_use_id: id, content: texts.join('\n'), ...(isFailed ? { is_error: true } : {}) }
}

function usageOf(tokens: JsonObject | undefined): JsonObject | undefined {
  if (!tokens) return undefined
  const cached = numberAt(tokens, 'cached') ?? 0
  return {
    input_tokens: Math.max(0, (numberAt(tokens, 'input') ?? 0) - cached),
    cache_read_input_tokens: cached,
    output_tokens: (numberAt(tokens, 'output') ?? 0) + (numberAt(tokens, 'thoughts') ?? 0),
  }
}
