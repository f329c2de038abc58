// Keeps things in order: tasks that change the conversation run one at a time, and messages that arrive during a compaction or a
// request wait. Waiting messages are written to the transcript as queued at once, so that a crash does not lose them.
import { type JsonObject, objectAt, stringsAt } from '../message/json.ts'
import { noPosition } from '../ports/session-store.ts'
import type { Entry } from '../transcript/format/entry.ts'
import type { Stamp } from './conversation.ts'
import { type ApiMessage, messageBodies } from './input.ts'
import type { Runtime } from './runtime.ts'
import { type Recall, recallIn } from './stored-session.ts'

/** `afterEach` runs after every task, even one that threw. It is busy while a task is running or waiting. */
export function createMutex(afterEach: () => void) {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const run = <T>(task: () => Promise<T> | T): Promise<T> => {
    waiting++
    const mine = last.then(async () => {
      try {
        return await task()
      } finally {
        waiting--
        afterEach()
      }
    })
    // The next task starts even if this one fails; its caller gets the error.
    last = mine.catch(() => undefined)
    return mine
  }
  return { run, isBusy: () => waiting > 0 }
}

/** Includes the uuids that its entries will have. */
export type QueuedMessage = { readonly message: ApiMessage; readonly uuids: readonly string[] }

/** `left`: messages from an earlier process that are still in the queue. */
export function createMessageQueue({ conversation, tracker, ports }: Runtime, left: readonly QueuedMessage[] = []) {
  const waiting = [...left]
  const write = ({ message, uuids }: QueuedMessage) => {
    conversation.append(messageBodies(message), uuids)
    if (message.role === 'assistant') tracker.answer()
    if (isHuman(message)) tracker.human(ports.newId())
  }
  return {
    /** Returns the uuids that the entries have, or will have if the message has to wait. */
    add: (message: ApiMessage, { isWaiting }: { readonly isWaiting: boolean }): readonly string[] => {
      const queued = { message, uuids: messageBodies(message).map(() => ports.newId()) }
      if (isWaiting) {
        conversation.note([enqueueRecord(queued, conversation.stamp())])
        waiting.push(queued)
      } else write(queued)
      return queued.uuids
    },
    /** Writes the waiting messages into the conversation, in order. A message that cannot be written keeps waiting. */
    flush: (): void => {
      let written = 0
      try {
        for (const message of waiting) {
          write(message)
          written++
          conversation.note([{ type: 'queue-operation', operation: 'dequeue', ...conversation.stamp() }])
        }
      } finally {
        waiting.splice(0, written)
      }
    },
  }
}

/** True if a person typed it: not a tool result, and not injected by the client. */
function isHuman({ role, origin, content }: ApiMessage): boolean {
  if (role !== 'user' || (origin !== undefined && origin !== 'human')) return false
  return typeof content === 'string' || content.some(({ type }) => type !== 'tool_result')
}

export function enqueueRecord({ message, uuids }: QueuedMessage, { timestamp, sessionId }: Stamp): JsonObject {
  const content = typeof message.content === 'string' ? message.content : JSON.stringify(message.content)
  return { type: 'queue-operation', operation: 'enqueue', timestamp, sessionId, content, everlong: { message, uuids } }
}

/** Messages that we queued and that did not reach the conversation. */
export function leftInQueue(entries: readonly Entry[]): readonly QueuedMessage[] {
  const queued = entries.flatMap(({ record }) => queuedIn(record) ?? [])
  if (queued.length === 0) return []
  const written = new Set(entries.map(({ record }) => record.uuid))
  return queued.filter(({ uuids }) => !uuids.some((uuid) => written.has(uuid)))
}

/** Queued messages in the form of their future entries, so that they can already be found. */
export function queuedEntries(entries: readonly Entry[]): readonly Entry[] {
  return leftInQueue(entries).flatMap(({ message, uuids }) =>
    messageBodies(message).map((body, at) => ({ record: { ...body, uuid: uuids[at] }, position: noPosition })),
  )
}

/** Reads only our own records, because other clients queue in other ways. */
function queuedIn({ type, operation, everlong }: JsonObject): QueuedMessage | undefined {
  if (type !== 'queue-operation' || operation !== 'enqueue') return undefined
  const message = objectAt(everlong, 'message')
  const uuids = stringsAt(everlong, 'uuids')
  const { role, content } = message ?? {}
  const isSound = role === 'user' && (typeof content === 'string' || Array.isArray(content)) && uuids.length > 0
  return isSound ? { message: message as ApiMessage, uuids } : undefined
}

/** Also finds queued messages, in every store. They are the newest, and no store has them as messages yet. */
export function withQueued({ recall, read }: Recall, queued: () => readonly Entry[]): Recall {
  const inQueue = recallIn(queued)
  return {
    recall: async (words, limit, pause) => {
      const first = await inQueue.recall(words, limit, pause)
      const then = await recall(words, limit, pause)
      // A message that left the queue in the meantime is in both lists.
      const ids = new Set(first.matches.map(({ id }) => id))
      const all = [...first.matches, ...then.matches.filter(({ id }) => !ids.has(id))]
      return { matches: all.slice(0, limit), more: first.more || then.more || all.length > limit }
    },
    read: async (id) => (await inQueue.read(id)) ?? read(id),
  }
}
