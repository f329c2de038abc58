// Builds one answer in the shape of the Messages API from the chunks of a streamed chat completion. Tolerates what servers omit
// (indexes, ids, usage), with one exception: without a finish reason the stream was cut.

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
import type { Block } from '../../core/message/message.ts'
import type { ModelAnswer } from '../../core/ports/model.ts'
import { type Accumulator, BrokenStream, type Delta } from '../stream.ts'

export type Call = { id: string; name: string; json: string }

export class ChatAccumulator implements Accumulator {
  private id = ''
  private model = ''
  private thinking = ''
  private text = ''
  private refusal = ''
  private finish: string | undefined
  private usage: JsonObject | undefined
  /** By index. The index comes from the server, so it is not used as an array position. */
  private readonly calls = new Map<number, Call>()

  isComplete(): boolean {
    return this.finish !== undefined
  }

  add(chunk: unknown): Delta {
    this.id ||= stringAt(chunk, 'id') ?? ''
    this.model ||= stringAt(chunk, 'model') ?? ''
    this.usage = objectAt(chunk, 'usage') ?? this.usage
    const choice = arrayAt(chunk, 'choices')[0]
    this.finish = stringAt(choice, 'finish_reason') ?? this.finish
    // `message` from a server that does not stream.
    const delta = objectAt(choice, 'delta') ?? objectAt(choice, 'message') ?? {}
    const json = arrayAt(delta, 'tool_calls')
      .filter(isObject)
      .map((call) => addCall(this.calls, call))
    const thinking = stringAt(delta, 'reasoning_content') ?? stringAt(delta, 'reasoning') ?? ''
    const text = stringAt(delta, 'content') ?? ''
    const refusal = stringAt(delta, 'refusal') ?? ''
    this.thinking += thinking
    this.text += text
    this.refusal += refusal
    if (thinking !== '') return { type: 'thinking', text: thinking }
    if (text !== '' || refusal !== '') return { type: 'text', text: text || refusal }
    return { type: 'json', text: json.join('') }
  }

  answer(): ModelAnswer {
    const { id, model, finish, usage, thinking } = this
    if (finish === undefined) throw new BrokenStream('the stream ended before the answer did')
    const { calls, unread } = readCalls([...this.calls.values()], id)
    const text = this.text + this.refusal
    return {
      type: 'answer',
      id,
      model,
      content: [
        ...(thinking === '' ? [] : [{ type: 'thinking', thinking }]),
        ...(text === '' ? [] : [{ type: 'text', text }]),
        ...calls,
      ],
      stopReason: this.refusal === '' ? chatStopReason(finish, calls.length > 0) : 'refusal',
      usage: chatUsage(usage),
      extra: { finish_reason: finish, usage: usage ?? null, ...unread },
    }
  }
}

/** Arguments that are not a JSON object were cut off together with the answer. The call stays valid, and `unread` has the text. */
export function readCalls(
  given: readonly Call[],
  answerId: string,
): { readonly calls: readonly Block[]; readonly unread: JsonObject } {
  const unread: Record<string, string> = {}
  const calls = given.map(({ id, name, json }, index): Block => {
    // The answer's id distinguishes calls of different answers, which all count from 0.
    const own = id || ['call', index, answerId].filter((part) => part !== '').join('_')
    const input = json.trim() === '' ? {} : parseObject(json)
    if (input === undefined) unread[own] = json
    return { type: 'tool_use', id: own, name, input: input ?? {} }
  })
  return { calls, unread: Object.keys(unread).length > 0 ? { unread_inputs: unread } : {} }
}

/** Calls arrive in parts by index. Some servers send whole calls without an index, so a new id begins a new call. */
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
