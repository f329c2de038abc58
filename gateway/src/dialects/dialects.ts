// The APIs that the gateway reads, by the path of their requests.
import { chat } from './chat.ts'
import type { Dialect } from './dialect.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

const byPath: Readonly<Record<string, Dialect>> = {
  '/v1/messages': messages,
  '/v1/chat/completions': chat,
  '/v1/responses': responses,
}

export function dialectAt(path: string): Dialect | undefined {
  const plain = path.replace(/\/$/, '')
  return Object.hasOwn(byPath, plain) ? byPath[plain] : undefined
}
