// The smallest request that reads a cached prefix: the caller's own, without output.
import { isObject, type JsonObject } from 'everlong/internal'
import type { Usage } from 'everlong/internal/wire'
import { eventsOf } from '../dialects/events.ts'
import { messages as dialect } from '../dialects/messages.ts'
import { bodyObject } from '../http/body.ts'
import { callUpstream } from '../http/call.ts'
import type { Route } from '../upstreams.ts'

/** An answered request, with the caller's credential. */
export type Repeatable = {
  readonly route: Route
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

export type Touched = { readonly status: number; readonly usage: Usage | undefined }

export type TouchOptions = { readonly timeoutMs: number; readonly maxBytes: number; readonly signal: AbortSignal }

/** Undefined if the request cannot be repeated without output. */
export async function touch(request: Repeatable, options: TouchOptions): Promise<Touched | undefined> {
  const { route, rawHeaders, body } = request
  const read = await bodyObject(body, { encoding: undefined, maxBytes: options.maxBytes })
  const asking = read && withoutOutput(read)
  if (!asking) return undefined
  const answer = await callUpstream({
    ...{ upstream: route.upstream, path: route.path, rawHeaders, body: Buffer.from(JSON.stringify(asking)) },
    ...{ timeoutMs: options.timeoutMs, signal: options.signal },
  })
  if (answer.type !== 'answer') return { status: 0, usage: undefined }
  return { status: answer.status, usage: dialect.readUsage(eventsOf(answer.bytes, answer.headers['content-type'])) }
}

/**
 * The API refuses `max_tokens: 0` together with anything that asks for output. Removes what does not change the prefix; thinking
 * and the choice of a tool cannot be removed.
 */
export function withoutOutput(body: JsonObject): JsonObject | undefined {
  const { thinking, tool_choice: choice, output_config: output } = body
  const isForced = isObject(choice) && (choice.type === 'any' || choice.type === 'tool')
  const hasFormat = isObject(output) && output.format !== undefined
  if ((isObject(thinking) && thinking.type === 'enabled') || isForced || hasFormat) return undefined
  const { stream: _, ...rest } = body
  return { ...rest, max_tokens: 0 }
}
