// The APIs that the gateway reads, by the path of their requests.
import type { Dialect } from './dialect.ts'
import { messages } from './messages.ts'

const byPath: Readonly<Record<string, Dialect>> = {
  '/v1/messages': messages,
}

export function dialectAt(path: string): Dialect | undefined {
  const plain = path.replace(/\/$/, '')
  return Object.hasOwn(byPath, plain) ? byPath[plain] : undefined
}
