// How an SDK's messages become ours and ours become the SDK's. Converters are pure: they never change what they are given.
import type { Block } from '../../core/message/block.ts'
import { isObject, type JsonObject } from '../../core/message/json.ts'
import type { Message, Role } from '../../core/message/message.ts'
import type { TokenCounts } from '../../core/message/usage.ts'
import type { ApiMessage } from '../../core/session/input.ts'
import { hashText } from '../../core/text/hash.ts'

/** A message of an SDK in our shape. */
export type Converted = {
  /** Of the SDK's message it came from. One message may become several of ours, one after the other. */
  readonly index: number
  /** The same conversation must give the same blocks in every call: leave out what hosts move about, like cache marks. */
  readonly message: Pick<ApiMessage, 'origin' | 'toolUseResult'> & {
    readonly role: Role
    readonly content: readonly Block[]
  }
  /** For each block the part of the SDK's message that it came from; undefined where there is none. */
  readonly parts?: readonly unknown[]
  /** Of an answer, if the SDK stores it with the message. */
  readonly usage?: TokenCounts
}

/** Where a block came from. */
export type Origin<Foreign> = {
  readonly foreign: Foreign
  readonly part: unknown
  /** The block as it was converted. */
  readonly block: Block
  /** The block is as it was; otherwise it is the same call or result with another content. */
  readonly isSame: boolean
}

export type OriginOf<Foreign> = (block: Block) => Origin<Foreign> | undefined

export type Converter<Foreign> = {
  /**
   * Everything but the system prompt: messages before the first converted one are given back as they are. A part that is
   * not known becomes text, so that it is counted and can be summarized.
   */
  readonly toMessages: (foreign: readonly Foreign[]) => readonly Converted[]
  /**
   * Called only for messages that are not as the SDK gave them: summaries, cleared results, restored context. Parts that
   * are the same should be taken from their origin.
   */
  readonly fromMessage: (message: Message, originOf: OriginOf<Foreign>) => readonly Foreign[]
  /** The message with a mark for the prompt cache. Left out: the adapter sets no marks. */
  readonly withMark?: (foreign: Foreign, mark: Block['cache_control']) => Foreign
}

/** What the core remembers of one message of the SDK. */
export type Known<Foreign> = {
  readonly foreign: Foreign
  readonly role: Role
  readonly blocks: readonly Block[]
  readonly parts: readonly unknown[]
  /** The messages it became. */
  readonly messages: readonly Converted['message'][]
  readonly usage?: TokenCounts | undefined
  /** The newest entry that was written for it; undefined if nothing was. */
  readonly uuid?: string | undefined
}

export type Conversion<Foreign> = {
  /** The system prompt and whatever else comes before the conversation. */
  readonly head: readonly Foreign[]
  readonly known: readonly Known<Foreign>[]
}

export function convert<Foreign>(
  { toMessages }: Pick<Converter<Foreign>, 'toMessages'>,
  foreign: readonly Foreign[],
): Conversion<Foreign> {
  const groups: Converted[][] = []
  for (const converted of toMessages(foreign)) {
    const last = groups.at(-1)
    if (last?.[0]?.index === converted.index) last.push(converted)
    else groups.push([converted])
  }
  const first = groups[0]?.[0]?.index ?? foreign.length
  return { head: foreign.slice(0, first), known: groups.map((group) => knownOf(foreign, group)) }
}

function knownOf<Foreign>(foreign: readonly Foreign[], group: readonly Converted[]): Known<Foreign> {
  const [first] = group as [Converted]
  const blocks = group.flatMap(({ message }) => message.content)
  return {
    foreign: foreign[first.index] as Foreign,
    role: first.message.role,
    blocks,
    parts: group.flatMap(({ message, parts }) => parts ?? message.content.map(() => undefined)),
    messages: group.map(({ message }) => message),
    usage: group.find(({ usage }) => usage !== undefined)?.usage,
  }
}

/** Blocks never change, and most of them are asked about again with every call. */
const keys = new WeakMap<Block, string>()

/** Blocks with the same key say the same. Marks for the cache say nothing. */
export function keyOf(block: Block): string {
  const known = keys.get(block)
  if (known !== undefined) return known
  const { cache_control: _, ...rest } = block
  const text = JSON.stringify(rest)
  const key = `${text.length}:${hashText(text)}`
  keys.set(block, key)
  return key
}

export type Comparable = Pick<Known<unknown>, 'role' | 'blocks'>

/** How many messages two lists have in common at their beginning. */
export function commonPrefix(one: readonly Comparable[], other: readonly Comparable[]): number {
  const at = one.findIndex((message, index) => {
    const counterpart = other[index]
    return counterpart === undefined || !isSameMessage(message, counterpart)
  })
  return at < 0 ? one.length : at
}

/** Compared as they are: nearly all texts are the same strings, which is faster to see than to hash. */
function isSameMessage(one: Comparable, other: Comparable): boolean {
  if (one.role !== other.role || one.blocks.length !== other.blocks.length) return false
  return one.blocks.every((block, at) => {
    const counterpart = other.blocks[at]
    return counterpart !== undefined && (block === counterpart || isSameValue(unmarked(block), unmarked(counterpart)))
  })
}

function unmarked(block: Block): JsonObject {
  if (block.cache_control === undefined) return block
  const { cache_control: _, ...rest } = block
  return rest
}

function isSameValue(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSameValue(item, other[at]))
  }
  if (!isObject(one) || !isObject(other)) return false
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => isSameValue(one[name], other[name]))
}
