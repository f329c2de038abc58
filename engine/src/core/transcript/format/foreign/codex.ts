// Codex rollouts: `{ timestamp, type, payload }`. The items between two token counts belong to one model call: they become
// one answer, and the count becomes its usage. A compaction contains its whole new history.
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, parseObject, stringAt } from '../../../message/json.ts'
import type { Entry, RecordReader } from '../entry.ts'
import { assistantRecord, type ChainPlace, createChain, resultRecord, userRecord } from './chain.ts'

const clientMade =
  /^\s*(<(environment_context|user_instructions|permissions instructions|turn_aborted|subagent_notification|skills?_instructions|skill)\b|# AGENTS\.md instructions)/

type Thread = { readonly id: string; readonly isSubagent: boolean; readonly isForked: boolean }

type State = ReturnType<typeof newState>

function newState() {
  return {
    chain: createChain(),
    answers: 0,
    total: 0,
    lastSize: undefined as number | undefined,
    /** The next token count is that of the request for a summary. */
    isSummarizing: false,
    model: undefined as string | undefined,
    /** The owner of the file, from its first line. */
    thread: undefined as Thread | undefined,
    /** The newest turn began after the thread was created; everything before it is the parent's history. */
    isOwnTurn: false,
    /** Requests so far, by id and verbatim, because a compaction writes them again. */
    asked: new Set<unknown>(),
  }
}

export function createCodexReader(): RecordReader {
  const state = newState()
  return (record, position) => {
    const payload = objectAt(record, 'payload')
    if (!payload) return [{ record, position }]
    follow(state, record.type, payload)
    // Several entries from one line get ids of their own.
    let nth = 0
    const place = () => ({
      uuid: `codex-${position.line}-${position.nth}-${nth++}`,
      timestamp: record.timestamp,
      position,
    })
    if (record.type === 'response_item') {
      // The summary as the model wrote it; the compaction that follows repeats it.
      state.isSummarizing = objectAt(record, 'metadata')?.compaction_output === true
      const converted = state.isSummarizing ? undefined : item(payload, state)
      if (converted) return [state.chain.add(converted, place())]
    }
    if (record.type === 'event_msg' && payload.type === 'token_count') {
      const usage = usageOf(payload, state)
      if (usage) return [{ record, position }, state.chain.add(usage, place())]
    }
    return record.type === 'compacted' ? compacted(payload, state, place) : [{ record, position }]
  }
}

/** A sub-agent's file may begin with its parent's whole history. Ids sort by time. */
function follow(state: State, type: unknown, payload: JsonObject): void {
  if (type === 'turn_context') state.model = stringAt(payload, 'model') ?? state.model
  if (type === 'session_meta') {
    state.thread ??= {
      id: stringAt(payload, 'id') ?? '',
      isSubagent: objectAt(payload, 'source')?.subagent !== undefined,
      isForked: payload.forked_from_id !== undefined,
    }
  }
  const turn = stringAt(payload, 'turn_id')
  if (turn !== undefined) state.isOwnTurn = turn > (state.thread?.id ?? '')
}

/** After the forked history, `user` messages come from the parent agent, not from a person. */
function isAsked({ thread, isOwnTurn }: State): boolean {
  return thread?.isSubagent === true && (isOwnTurn || !thread.isForked)
}

function compacted(payload: JsonObject, state: State, place: () => ChainPlace): readonly Entry[] {
  const summary = stringAt(payload, 'message') || undefined
  const metadata = { trigger: 'unknown', preTokens: state.lastSize }
  const first = place()
  const compaction = { summary, metadata, boundaryUuid: first.uuid }
  const written = state.chain.compact(compaction, summary === undefined ? first : place())
  state.answers++
  const history = arrayAt(payload, 'replacement_history')
    .filter(isObject)
    .filter((replacement) => textIn(replacement) !== summary)
    .map((replacement) => item(replacement, state, { isCopy: isKnown(replacement, state) }))
    .filter((converted) => converted !== undefined)
    .map((converted) => state.chain.add(converted, place()))
  state.answers++
  return [...written, ...history]
}

/** A message that a compaction keeps is already in the file. Counted again, it would be a request without a reply. */
function isKnown(replacement: JsonObject, { asked }: State): boolean {
  return (typeof replacement.id === 'string' && asked.has(replacement.id)) || asked.has(textIn(replacement))
}

function item(payload: JsonObject, state: State, { isCopy } = { isCopy: false }): JsonObject | undefined {
  const assistant = (...content: readonly JsonObject[]): JsonObject =>
    assistantRecord({ id: `codex-answer-${state.answers}`, model: state.model, content })
  switch (payload.type) {
    case 'message': {
      const content = arrayAt(payload, 'content').filter(isObject).map(block)
      if (payload.role === 'assistant') return assistant(...content)
      const text = textIn(payload)
      const isMeta = payload.role !== 'user' || clientMade.test(text) || isCopy
      const said = userRecord(content, isMeta)
      if (isMeta) return said
      state.asked.add(text).add(payload.id ?? text)
      return isAsked(state) ? { ...said, origin: { kind: 'agent' } } : said
    }
    case 'reasoning': {
      const texts = arrayAt(payload, 'summary').map((part) => stringAt(part, 'text') ?? '')
      return assistant({ type: 'thinking', thinking: texts.join('\n'), signature: payload.encrypted_content })
    }
    case 'function_call':
      return assistant(toolUse(payload, parsed(payload.arguments)))
    case 'custom_tool_call':
      return assistant(toolUse(payload, { input: payload.input }))
    case 'local_shell_call':
      return assistant(toolUse({ ...payload, name: 'local_shell' }, objectAt(payload, 'action') ?? {}))
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const content = typeof payload.output === 'string' ? payload.output : JSON.stringify(payload.output ?? '')
      return resultRecord([{ tool_use_id: payload.call_id, content }])
    }
    case 'web_search_call':
      return assistant({ type: 'server_tool_use', name: 'web_search', input: payload.action ?? {} })
    case 'compaction':
      return { ...userRecord([{ ...payload }]), isCompactSummary: true }
    default:
      return undefined
  }
}

function textIn(payload: JsonObject): string {
  return arrayAt(payload, 'content')
    .map((part) => stringAt(part, 'text') ?? '')
    .join('\n')
}

function toolUse(payload: JsonObject, input: JsonObject): JsonObject {
  return { type: 'tool_use', id: payload.call_id, name: payload.name, input }
}

function parsed(text: unknown): JsonObject {
  return typeof text === 'string' ? (parseObject(text) ?? { arguments: text }) : {}
}

function block(from: JsonObject): JsonObject {
  if (from.type === 'input_text' || from.type === 'output_text') return { type: 'text', text: from.text }
  if (from.type === 'input_image') return { type: 'image', source: { type: 'url', url: from.image_url } }
  return from
}

/** Token counts are repeated after interruptions: one is new only if the running total has grown. */
function usageOf(payload: JsonObject, state: State): JsonObject | undefined {
  const info = objectAt(payload, 'info')
  const last = objectAt(info, 'last_token_usage')
  const total = numberAt(objectAt(info, 'total_token_usage'), 'total_tokens') ?? 0
  if (!last || total <= state.total) return undefined
  state.total = total
  if (!state.isSummarizing) state.lastSize = numberAt(last, 'total_tokens')
  state.isSummarizing = false
  const cached = numberAt(last, 'cached_input_tokens') ?? 0
  const usage = {
    input_tokens: Math.max(0, (numberAt(last, 'input_tokens') ?? 0) - cached),
    cache_read_input_tokens: cached,
    output_tokens: numberAt(last, 'output_tokens') ?? 0,
  }
  return assistantRecord({ id: `codex-answer-${state.answers++}`, model: state.model, content: [], usage })
}
