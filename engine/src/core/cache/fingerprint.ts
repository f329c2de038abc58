// Hashes of the parts of a request: enough to tell which part of a prefix changed. Not cryptographic.
import { blocksOf } from '../message/block.ts'
import { defined } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import { hashText } from '../text/hash.ts'

export type RequestParts = {
  readonly model?: string | undefined
  readonly system?: unknown
  readonly tools?: unknown
  readonly messages: readonly Message[]
}

export type Fingerprint = {
  readonly model?: string
  readonly system: number
  readonly tools: number
  readonly messages: readonly number[]
}

/** Keep one per conversation: unchanged messages are hashed once. */
export function createFingerprinter(): (parts: RequestParts) => Fingerprint {
  const known = { user: new WeakMap<object, number>(), assistant: new WeakMap<object, number>() }
  const printOf = ({ role, content }: Message): number => {
    const print = () => hashOf({ role, content: blocksOf(content) })
    if (typeof content === 'string') return print()
    const found = known[role].get(content) ?? print()
    known[role].set(content, found)
    return found
  }
  return ({ model, system, tools, messages }) => ({
    ...defined({ model }),
    system: hashOf(typeof system === 'string' ? blocksOf(system) : (system ?? [])),
    tools: hashOf(tools ?? []),
    messages: messages.map(printOf),
  })
}

/** Cache markers move from request to request and change no prefix. */
function hashOf(value: unknown): number {
  return hashText(JSON.stringify(value, (key, item) => (key === 'cache_control' ? undefined : item)) ?? '')
}
