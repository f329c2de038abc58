// Messages that come while a compaction runs or a request is under way: held, in their order, and written down at once
// as queued, so that not even a crash loses one.
import { isObject, type JsonObject } from '../message/json.ts'
import type { Entry } from '../transcript/entry.ts'
import type { GivenMessage } from './given.ts'

export type HeldMessage = { readonly message: GivenMessage; readonly uuids: readonly string[] }

type Operation = { readonly timestamp: string; readonly sessionId: string }

export function enqueueRecord(message: GivenMessage, { timestamp, sessionId }: Operation): JsonObject {
  const content = typeof message.content === 'string' ? message.content : JSON.stringify(message.content)
  return { type: 'queue-operation', operation: 'enqueue', timestamp, sessionId, content, everlong: { message } }
}

export function dequeueRecord({ timestamp, sessionId }: Operation): JsonObject {
  return { type: 'queue-operation', operation: 'dequeue', timestamp, sessionId }
}

/** Messages of ours that were queued and never came into the conversation. */
export function leftInQueue(entries: readonly Entry[]): readonly GivenMessage[] {
  const queue: (GivenMessage | undefined)[] = []
  for (const { record } of entries) {
    if (record.type !== 'queue-operation') continue
    if (record.operation === 'enqueue') queue.push(messageIn(record))
    else queue.shift()
  }
  return queue.filter((message) => message !== undefined)
}

/** Other clients queue in ways of their own: what they left is not ours to say again. */
function messageIn({ everlong }: JsonObject): GivenMessage | undefined {
  const message = isObject(everlong) ? everlong.message : undefined
  if (!isObject(message) || message.role !== 'user') return undefined
  const { content } = message
  return typeof content === 'string' || Array.isArray(content) ? (message as GivenMessage) : undefined
}
