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

export function fingerprintOf({ model, system, tools, messages }: RequestParts): Fingerprint {
  return {
    ...defined({ model }),
    system: hashOf(typeof system === 'string' ? blocksOf(system) : (system ?? [])),
    tools: hashOf(tools ?? []),
    messages: messages.map(({ role, content }) => hashOf({ role, content: blocksOf(content) })),
  }
}

/** Cache markers move from request to request and change no prefix. */
function hashOf(value: unknown): number {
  return hashText(JSON.stringify(value, (key, item) => (key === 'cache_control' ? undefined : item)) ?? '')
}
