// The chunks of a streamed chat completion become one answer in the Messages API's shape. Forgiving about what servers
// leave out (indexes, ids, usage); strict about one thing: without a finish reason the stream was cut.
import type { Block } from '../../core/message/block.ts'
import { chatStopReason, chatUsage } from '../../core/message/chat-completions.ts'
import {
  arrayAt,
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  parseObject,
  stringAt,
} from '../../core/message/json.ts'
import type { ModelAnswer } from '../../core/ports/model.ts'
import { type Accumulator, BrokenStream, type Piece } from '../stream.ts'

type Call = { id: string; name: string; json: string }
type State = ReturnType<typeof newState>

function newState() {
  return {
    id: '',
    model: '',
    thinking: '',
    text: '',
    refusal: '',
    finish: undefined as string | undefined,
    usage: undefined as JsonObject | undefined,
    /** By index: a server's number, so never the place in a list. */
    calls: new Map<number, Call>(),
  }
}

export function createChatAccumulator(): Accumulator {
  const state = newState()
  return {
    add: (chunk) => addChunk(state, chunk),
    isComplete: () => state.finish !== undefined,
    answer: () => answerOf(state),
  }
}

function addChunk(state: State, chunk: unknown): Piece | undefined {
  state.id ||= stringAt(chunk, 'id') ?? ''
  state.model ||= stringAt(chunk, 'model') ?? ''
  state.usage = objectAt(chunk, 'usage') ?? state.usage
  const choice = arrayAt(chunk, 'choices')[0]
  state.finish = stringAt(choice, 'finish_reason') ?? state.finish
  // `message` from a server that does not stream.
  const delta = objectAt(choice, 'delta') ?? objectAt(choice, 'message') ?? {}
  const json = arrayAt(delta, 'tool_calls')
    .filter(isObject)
    .map((call) => addCall(state.calls, call))
  const thinking = stringAt(delta, 'reasoning_content') ?? stringAt(delta, 'reasoning') ?? ''
  const text = stringAt(delta, 'content') ?? ''
  const refusal = stringAt(delta, 'refusal') ?? ''
  state.thinking += thinking
  state.text += text
  state.refusal += refusal
  if (thinking !== '') return { type: 'thinking', text: thinking }
  if (text !== '' || refusal !== '') return { type: 'text', text: text || refusal }
  return { type: 'json', text: json.join('') }
}

/** Calls come in pieces by index. Some servers send whole calls and no index: then an id of its own begins a new one. */
function addCall(calls: Map<number, Call>, piece: JsonObject): string {
  const named = objectAt(piece, 'function')
  const id = stringAt(piece, 'id') ?? ''
  const index = numberAt(piece, 'index') ?? indexOf(calls, id, named)
  const call = calls.get(index) ?? { id: '', name: '', json: '' }
  calls.set(index, call)
  call.id ||= id
  call.name ||= stringAt(named, 'name') ?? ''
  const json = stringAt(named, 'arguments') ?? (isObject(named?.arguments) ? JSON.stringify(named.arguments) : '')
  call.json += json
  return json
}

function indexOf(calls: ReadonlyMap<number, Call>, id: string, named: JsonObject | undefined): number {
  const begins = id === '' && stringAt(named, 'name') !== undefined
  const known = begins ? undefined : [...calls].findLast(([, call]) => id === '' || call.id === id)
  return known === undefined ? calls.size : known[0]
}

function answerOf(state: State): ModelAnswer {
  if (state.finish === undefined) throw new BrokenStream('the stream ended before the answer did')
  const unread: Record<string, string> = {}
  const calls = [...state.calls.values()].map((call, index): Block => {
    // The answer's own id tells it apart from calls of other answers, which are counted from 0 as well.
    const id = call.id || ['call', index, state.id].filter((part) => part !== '').join('_')
    const input = call.json.trim() === '' ? {} : parseObject(call.json)
    if (input === undefined) unread[id] = call.json
    return { type: 'tool_use', id, name: call.name, input: input ?? {} }
  })
  const text = state.text + state.refusal
  return {
    type: 'answer',
    id: state.id,
    model: state.model,
    content: [
      ...(state.thinking === '' ? [] : [{ type: 'thinking', thinking: state.thinking }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls,
    ],
    stopReason: state.refusal === '' ? chatStopReason(state.finish, calls.length > 0) : 'refusal',
    usage: chatUsage(state.usage),
    extra: {
      finish_reason: state.finish,
      usage: state.usage ?? null,
      ...(Object.keys(unread).length > 0 ? { unread_inputs: unread } : {}),
    },
  }
}
