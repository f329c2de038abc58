// Converts a finished message to the events of a stream, in the documented order. No timing, no sending.
import type { Block } from 'everlong'
import { isText, isToolUse, type JsonObject } from 'everlong/internal'
import { pieces } from './pieces.ts'

export type StreamEvent = { readonly type: string; readonly [key: string]: unknown }

export type StreamedMessage = {
  /** The message at the end of the stream. */
  readonly message: JsonObject & { readonly content: readonly Block[] }
  /** The usage at the start of the stream. */
  readonly startUsage: object
  readonly deltaUsage: object
}

export function* eventsOf(streamed: StreamedMessage, pingEvery: number): Generator<StreamEvent> {
  const { message } = streamed
  yield { type: 'message_start', message: startOf(streamed) }
  let deltas = 0
  let pinged = false
  for (const [index, block] of message.content.entries()) {
    yield { type: 'content_block_start', index, content_block: opening(block) }
    if (!pinged) yield { type: 'ping' }
    pinged = true
    for (const delta of deltasOf(block)) {
      yield { type: 'content_block_delta', index, delta }
      if (++deltas % pingEvery === 0) yield { type: 'ping' }
    }
    yield { type: 'content_block_stop', index }
  }
  if (!pinged) yield { type: 'ping' }
  const { stop_reason, stop_sequence, context_management } = message
  yield {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence },
    usage: streamed.deltaUsage,
    ...(context_management === undefined ? {} : { context_management }),
  }
  yield { type: 'message_stop' }
}

function startOf({ message, startUsage }: StreamedMessage): object {
  const context = message.context_management === undefined ? {} : { context_management: null }
  return { ...message, ...context, content: [], stop_reason: null, stop_sequence: null, usage: startUsage }
}

/** On-demand compactions arrive whole. All other blocks begin empty and are filled by deltas. */
function opening(block: Block): object {
  if (isText(block)) return { ...block, text: '' }
  if (isToolUse(block)) return { ...block, input: {} }
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
  if (block.type === 'compaction' && block.signature === undefined) return { type: 'compaction', content: null }
  return block
}

function* deltasOf(block: Block): Generator<object> {
  if (isText(block)) {
    for (const text of pieces(block.text)) yield { type: 'text_delta', text }
  } else if (isToolUse(block)) {
    yield { type: 'input_json_delta', partial_json: '' }
    for (const partial_json of pieces(JSON.stringify(block.input))) yield { type: 'input_json_delta', partial_json }
  } else if (block.type === 'thinking') {
    for (const thinking of pieces(String(block.thinking))) yield { type: 'thinking_delta', thinking }
    yield { type: 'signature_delta', signature: block.signature }
  } else if (block.type === 'compaction' && block.signature === undefined) {
    yield { type: 'compaction_delta', content: block.content, encrypted_content: block.encrypted_content }
  }
}
