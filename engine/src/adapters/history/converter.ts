// Converts an SDK's messages to ours and back, and compares messages. Converters are pure: they never change their input.

import { isObject } from '../../core/message/json.ts'
import { type Block, isBlank, isText, isThinking, type Message, type Role } from '../../core/message/message.ts'
import type { TokenCounts } from '../../core/message/usage.ts'
import { isContinuation } from '../../core/prompts/continuation.ts'
import { hashText } from '../../core/text/hash.ts'

/** A message of an SDK in our shape. */
export type Converted = {
  readonly role: Role
  /** The same conversation must give the same blocks in every call, so omit what hosts move around, such as cache marks. */
  readonly content: readonly Block[]
  /** `meta`: from the client, not a person. `summary`: a context that Everlong wrote, perhaps in an earlier process. */
  readonly origin?: 'meta' | 'summary' | undefined
  /** Usage of an answer, if the SDK stores it with the message. */
  readonly usage?: TokenCounts | undefined
}

/** The SDK's message that contained a block, perhaps before it was shortened. */
export type OriginOf<Foreign> = (block: Block) => Foreign | undefined

export type Converter<Foreign> = {
  /** System messages before the conversation are not converted and are returned unchanged. */
  readonly isSystem: (foreign: Foreign) => boolean
  /** An unknown part becomes text, so that it is counted and can be summarized. */
  readonly read: (foreign: Foreign) => Converted
  /**
   * Called only for messages that differ from the SDK's: summaries, cleared results, restored context. Parts that are unchanged
   * should be taken from their origin.
   */
  readonly write: (message: Message, originOf: OriginOf<Foreign>) => readonly Foreign[]
  /** The message with a mark for the prompt cache. If absent, the adapter sets no marks. */
  readonly withMark?: (foreign: Foreign, mark: Block['cache_control']) => Foreign
}

/** The stored data about one message of the SDK. */
export type KnownMessage<Foreign> = Converted & {
  readonly foreign: Foreign
  /** The newest entry that was written for it. Undefined if there is none. */
  readonly uuid?: string | undefined
}

export type Conversion<Foreign> = {
  /** The system prompt. */
  readonly head: readonly Foreign[]
  readonly known: readonly KnownMessage<Foreign>[]
}

export function convert<Foreign>(
  { isSystem, read }: Pick<Converter<Foreign>, 'isSystem' | 'read'>,
  messages: readonly Foreign[],
): Conversion<Foreign> {
  const head = leadingMessages(messages, isSystem)
  const known = messages.slice(head.length).map((foreign): KnownMessage<Foreign> => ({ ...read(foreign), foreign }))
  const [first, ...others] = known
  return { head, known: first && isContext(first) ? [{ ...first, origin: 'summary' }, ...others] : known }
}

/** True for a context of ours, which hosts pass in again if they store what was sent, even in another process. */
function isContext({ role, content: [first] }: Converted): boolean {
  return role === 'user' && first !== undefined && isText(first) && isContinuation(first.text)
}

/** The messages before the conversation. */
export function leadingMessages<Foreign>(
  messages: readonly Foreign[],
  isSystem: (message: Foreign) => boolean,
): readonly Foreign[] {
  const first = messages.findIndex((message) => !isSystem(message))
  return first < 0 ? messages : messages.slice(0, first)
}

/** Blocks never change, and most are compared again with every call. */
const keys = new WeakMap<Block, string>()

/** Blocks with equal keys have the same content. Cache marks are ignored. */
export function keyOf(block: Block): string {
  const known = keys.get(block)
  if (known !== undefined) return known
  const text = JSON.stringify(unmarked(block))
  const key = `${text.length}:${hashText(text)}`
  keys.set(block, key)
  return key
}

export function unmarked(block: Block): Block {
  if (block.cache_control === undefined) return block
  const { cache_control: _, ...rest } = block
  return rest as Block
}

type ComparedMessage = Pick<Converted, 'role' | 'content'>

/** Number of messages that two lists share at their beginning. */
export function commonPrefix(one: readonly ComparedMessage[], other: readonly ComparedMessage[]): number {
  const at = one.findIndex((message, index) => {
    const counterpart = other[index]
    return counterpart === undefined || !isSameMessage(message, counterpart)
  })
  return at < 0 ? one.length : at
}

/** Compares strings directly: nearly all are the same objects, which is faster than hashing. */
function isSameMessage(one: ComparedMessage, other: ComparedMessage): boolean {
  return one.role === other.role && isSame(one.content.map(unmarked), other.content.map(unmarked))
}

export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]))
  }
  if (!isObject(one) || !isObject(other)) return false
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => isSame(one[name], other[name]))
}

/**
 * Number of given messages with the same content as the earlier ones. Undefined if the content differs. The grouping may differ,
 * because some frameworks merge the steps of a run into one answer with all calls and one message with all results.
 */
export function continuedAt(before: readonly ComparedMessage[], given: readonly ComparedMessage[]): number | undefined {
  if (before.length === 0) return undefined
  const same = commonPrefix(before, given)
  const left = new Map<string, number>()
  for (const key of before.slice(same).flatMap(keysIn)) left.set(key, (left.get(key) ?? 0) + 1)
  let end = same
  while (left.size > 0) {
    const message = given[end++]
    if (message === undefined) return undefined
    for (const key of keysIn(message)) {
      const count = left.get(key)
      if (count === undefined) return undefined
      if (count === 1) left.delete(key)
      else left.set(key, count - 1)
    }
  }
  return end
}

/** Ignores thinking, which frameworks drop when they merge. */
function keysIn({ role, content }: ComparedMessage): readonly string[] {
  return content.flatMap((block) => (isThinking(block) || isBlank(block) ? [] : [`${role} ${keyOf(block)}`]))
}
