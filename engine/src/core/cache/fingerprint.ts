// What a request is made of, as short numbers: enough to say which part of a prefix changed, nothing to read it by.
// Not for secrets: two texts can have the same number, though hardly by chance.
import { blocksOf } from '../message/block.ts'
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
  /** One for each message. */
  readonly messages: readonly number[]
}

/** To be kept as long as the conversation: content that is still the same is not read again. */
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
    ...(model === undefined ? {} : { model }),
    system: hashOf(typeof system === 'string' ? blocksOf(system) : (system ?? [])),
    tools: hashOf(tools ?? []),
    messages: messages.map(printOf),
  })
}

/** Markers of where the cache is written move from request to request and change no prefix. */
function hashOf(value: unknown): number {
  return hashText(JSON.stringify(value, (key, item) => (key === 'cache_control' ? undefined : item)) ?? '')
}
