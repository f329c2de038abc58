// Sessions of the Copilot CLI: `events.jsonl`, one event a line, `{ type, id, parentId, timestamp, data }`. Only the
// end of a tool run counts. Sub-agents' events belong to the call that started them, not to the conversation.
import { arrayAt, defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../../message/json.ts'
import type { Entry, RecordReader } from '../entry.ts'
import { assistantRecord, type Chain, createChain, resultRecord, userRecord } from './chain.ts'

type State = { readonly chain: Chain; model: string | undefined; lastAnswer: string | undefined }

export function createCopilotReader(): RecordReader {
  const state: State = { chain: createChain(), model: undefined, lastAnswer: undefined }
  return (record, position) => {
    const data = objectAt(record, 'data') ?? {}
    const read = Object.hasOwn(readers, String(record.type)) ? readers[String(record.type)] : undefined
    if (!read || data.parentToolCallId !== undefined) return [{ record, position }]
    return read(data, state, { record, position }) ?? [{ record, position }]
  }
}

type Reader = (data: JsonObject, state: State, at: Entry) => readonly Entry[] | undefined

function placeOf({ record, position }: Entry) {
  const uuid = stringAt(record, 'id') ?? `copilot-${position.line}-${position.nth}`
  return { uuid, timestamp: record.timestamp, position }
}

const readers: Readonly<Record<string, Reader>> = {
  'session.start': started,
  'session.resume': started,
  'session.model_change': (data, state) => {
    state.model = stringAt(data, 'newModel') ?? state.model
    return undefined
  },
  'user.message': (data, { chain }, at) => {
    const source = stringAt(data, 'source')
    // transformedContent includes text that the client added; content is what the person typed.
    const content = stringAt(data, 'content') ?? ''
    return [chain.add(userRecord(content, source !== undefined && source !== 'user'), placeOf(at))]
  },
  'system.notification': (data, { chain }, at) => [
    chain.add(userRecord(stringAt(data, 'content') ?? '', true), placeOf(at)),
  ],
  'assistant.message': answered,
  'assistant.usage': used,
  'tool.execution_complete': (data, { chain }, at) => [chain.add(resultRecord([resultOf(data)]), placeOf(at))],
  'session.compaction_complete': (data, { chain }, at) => {
    if (data.success === false) return undefined
    const trigger = data.trigger === 'manual' ? 'manual' : data.trigger === undefined ? 'unknown' : 'auto'
    const [preTokens, postTokens] = [numberAt(data, 'preCompactionTokens'), numberAt(data, 'postCompactionTokens')]
    const summary = stringAt(data, 'summaryContent') || undefined
    return chain.compact({ summary, metadata: { trigger, preTokens, postTokens } }, placeOf(at))
  },
  'session.snapshot_rewind': (data, { chain }, at) =>
    chain.rewindBefore(stringAt(data, 'upToEventId') ?? '', placeOf(at)),
}

function started(data: JsonObject, state: State): undefined {
  const cwd = stringAt(objectAt(data, 'context'), 'cwd')
  state.chain.know(defined({ sessionId: stringAt(data, 'sessionId'), cwd }))
  state.model = stringAt(data, 'selectedModel') ?? state.model
}

function answered(data: JsonObject, state: State, at: Entry): readonly Entry[] {
  const [text, thinking] = [stringAt(data, 'content') ?? '', stringAt(data, 'reasoningText') ?? '']
  const calls = arrayAt(data, 'toolRequests')
    .filter(isObject)
    .map(({ toolCallId, name, arguments: input }) => ({
      ...{ type: 'tool_use', id: toolCallId, name },
      input: isObject(input) ? input : { input },
    }))
  const content = [
    ...(thinking === '' ? [] : [{ type: 'thinking', thinking }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls,
  ]
  const place = placeOf(at)
  const id = stringAt(data, 'messageId') ?? place.uuid
  state.lastAnswer = id
  return [state.chain.add(assistantRecord({ id, model: stringAt(data, 'model') ?? state.model, content }), place)]
}

/** An empty continuation of the previous answer that carries its usage. */
function used(data: JsonObject, state: State, at: Entry): readonly Entry[] | undefined {
  if (state.lastAnswer === undefined) return undefined
  const [cached, written] = [numberAt(data, 'cacheReadTokens') ?? 0, numberAt(data, 'cacheWriteTokens') ?? 0]
  const usage = {
    input_tokens: Math.max(0, (numberAt(data, 'inputTokens') ?? 0) - cached - written),
    output_tokens: numberAt(data, 'outputTokens') ?? 0,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
  }
  const model = stringAt(data, 'model') ?? state.model
  return [state.chain.add(assistantRecord({ id: state.lastAnswer, model, content: [], usage }), placeOf(at))]
}

function resultOf(data: JsonObject): JsonObject {
  const failure = stringAt(objectAt(data, 'error'), 'message')
  const content = stringAt(objectAt(data, 'result'), 'content') ?? failure ?? ''
  return { tool_use_id: data.toolCallId, content, ...(data.success === false ? { is_error: true } : {}) }
}
