// Message threads: conversations that the server stores, so that a request sends only new messages. The official SDK's tool
// runner uses nothing else. A thread is resolved into a whole request before any other code reads it.
import { isObject, type JsonObject } from 'everlong/internal'
import { fine, invalid, type Outcome, refused } from '../http/problem.ts'
import { extraInput } from '../request/wording.ts'

const threadsBeta = 'message-threads-2026-08-12'
const unsupported = ['context_management', 'fallbacks']
const createOnly = ['system', 'tools']
const maxThreads = 1_000

type Held = { readonly messages: readonly unknown[]; readonly fields: JsonObject; isContinued: boolean }

export type Threads = {
  /** The whole request that a threaded one refers to. Returns any other unchanged. */
  readonly resolve: (body: unknown, betas: ReadonlySet<string>) => Outcome<unknown>
  /** Stores the conversation under the id of its newest answer. */
  readonly hold: (id: string, body: JsonObject, content: readonly unknown[]) => void
}

export function createThreads(): Threads {
  const held = new Map<string, Held>()
  return {
    resolve: (body, betas) => {
      if (!isObject(body) || body.thread === undefined || body.thread === null) return fine(body)
      if (!betas.has(threadsBeta)) return refused(invalid(`thread: ${extraInput}`))
      const field = unsupported.find((name) => isObject(body[name]) || Array.isArray(body[name]))
      if (field !== undefined) {
        return refused(invalid(`thread: cannot be combined with \`${field}\``, 'thread_unsupported_request'))
      }
      return isObject(body.thread) && body.thread.type === 'continue' ? resume(body, body.thread, held) : fine(body)
    },
    hold: (id, body, content) => {
      if (!isObject(body.thread)) return
      // Only an answer continues a thread: a request that was refused may be sent again.
      const previous = held.get(String(body.thread.previous_message_id))
      if (previous !== undefined) previous.isContinued = true
      const messages = [...(Array.isArray(body.messages) ? body.messages : []), { role: 'assistant', content }]
      const fields = Object.fromEntries(createOnly.filter((name) => name in body).map((name) => [name, body[name]]))
      held.set(id, { messages, fields, isContinued: false })
      const oldest = held.keys().next()
      if (held.size > maxThreads && !oldest.done) held.delete(oldest.value)
    },
  }
}

function resume(body: JsonObject, thread: JsonObject, held: ReadonlyMap<string, Held>): Outcome<unknown> {
  const id = String(thread.previous_message_id)
  const found = held.get(id)
  if (found === undefined) {
    const message = `thread: no thread was found for ${id}`
    return refused({ status: 404, type: 'not_found_error', message, code: 'thread_not_found' })
  }
  if (found.isContinued) {
    return refused(invalid(`thread: ${id} has already been continued`, 'thread_already_continued'))
  }
  const repeated = createOnly.find((name) => name in body)
  if (repeated !== undefined) {
    return refused(invalid(`thread: \`${repeated}\` is the thread's own`, 'thread_fingerprint_mismatch'))
  }
  const own = Array.isArray(body.messages) ? body.messages : []
  return fine({ ...body, ...found.fields, messages: [...found.messages, ...own] })
}
