// Messages that come while a compaction runs or a request is under way: held, in their order, and written down at once
// as queued, so that not even a crash loses one.
import { type JsonObject, objectAt, stringsAt } from '../message/json.ts'
import type { Entry } from '../transcript/format/entry.ts'
import type { GivenMessage } from './given.ts'

/** With the uuids that its entries will have. */
export type HeldMessage = { readonly message: GivenMessage; readonly uuids: readonly string[] }

type Operation = { readonly timestamp: string; readonly sessionId: string }

export function enqueueRecord({ message, uuids }: HeldMessage, { timestamp, sessionId }: Operation): JsonObject {
  const content = typeof message.content === 'string' ? message.content : JSON.stringify(message.content)
  return { type: 'queue-operation', operation: 'enqueue', timestamp, sessionId, content, everlong: { message, uuids } }
}

export function dequeueRecord({ timestamp, sessionId }: Operation): JsonObject {
  return { type: 'queue-operation', operation: 'dequeue', timestamp, sessionId }
}

/** Messages of ours that were queued and never came into the conversation: none of their entries is there. */
export function leftInQueue(entries: readonly Entry[]): readonly HeldMessage[] {
  const queued = entries.flatMap(({ record }) => heldIn(record) ?? [])
  if (queued.length === 0) return []
  const written = new Set(entries.map(({ record }) => record.uuid))
  return queued.filter(({ uuids }) => !uuids.some((uuid) => written.has(uuid)))
}

/** Other clients queue in ways of their own: what they left is not ours to say again. */
function heldIn({ type, operation, everlong }: JsonObject): HeldMessage | undefined {
  if (type !== 'queue-operation' || operation !== 'enqueue') return undefined
  const message = objectAt(everlong, 'message')
  const uuids = stringsAt(everlong, 'uuids')
  const { role, content } = message ?? {}
  const isSound = role === 'user' && (typeof content === 'string' || Array.isArray(content)) && uuids.length > 0
  return isSound ? { message: message as GivenMessage, uuids } : undefined
}
