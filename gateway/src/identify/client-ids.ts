// The ids that clients send, in headers or in the body. They are only names; the tenant decides whose they are.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isObject, type JsonObject, objectAt, stringAt } from 'everlong/internal'
import { headerOf } from '../http/headers.ts'

/** Names the conversation, for any client. It is not forwarded. */
export const sessionHeader = 'x-everlong-session'

export type ClientIds = {
  /** Undefined if the conversation must be found by its content. */
  readonly session: string | undefined
  /** A sub-agent within the session. */
  readonly agent: string | undefined
  /** Agents ask for titles and similar things next to the conversation, without tools and under its id. */
  readonly asksAside: boolean
}

export function clientIdsOf(headers: IncomingHttpHeaders, body: JsonObject): ClientIds {
  const own = headerOf(headers, sessionHeader)
  const session = own ?? fromHeaders(headers) ?? fromBody(body)
  const agent = headerOf(headers, 'x-claude-code-agent-id')
  const isAgent = isKnownAgent(headers)
  const asksAside = isAgent && agent === undefined && !(Array.isArray(body.tools) && body.tools.length > 0)
  return { session: session && plainId(session), agent: agent && plainId(agent), asksAside }
}

/** In this order: a Codex thread is one conversation, several of which can belong to one of its sessions. */
const sessionHeaders = [
  'x-claude-code-session-id',
  'thread-id',
  'x-session-affinity',
  'x-opencode-session',
  'session-id',
  'session_id',
  'x-session-id',
]

function fromHeaders(headers: IncomingHttpHeaders): string | undefined {
  for (const name of sessionHeaders) {
    const value = headerOf(headers, name)
    if (value !== undefined) return value
  }
  return undefined
}

/** Claude Code writes JSON into `metadata.user_id`; OpenAI's clients name the conversation as the key of its cache. */
function fromBody(body: JsonObject): string | undefined {
  const user = stringAt(objectAt(body, 'metadata'), 'user_id')
  const inUser = user?.startsWith('{')
    ? stringAt(parsedObject(user), 'session_id')
    : /_session_([\w-]+)$/.exec(user ?? '')?.[1]
  return inUser ?? stringAt(body, 'prompt_cache_key')
}

/** Empty if the text is not the JSON of an object. */
export function parsedObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function isKnownAgent(headers: IncomingHttpHeaders): boolean {
  const agent = headerOf(headers, 'user-agent') ?? ''
  return headers['x-claude-code-session-id'] !== undefined || /^(claude-cli|opencode|codex)/i.test(agent)
}

/** Unchanged if it can name a session, otherwise its digest. A client's id is never used unchecked in a path. */
export function plainId(given: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(given)) return given
  return `id-${createHash('sha256').update(given).digest('hex').slice(0, 32)}`
}
