// Places marks for the prompt cache: after the tools or the system prompt, where changes ended, and at the end. At most four,
// including the host's own.

import { defined, isObject, type JsonObject } from '../message/json.ts'
import { type Block, blocksOf, isText, isThinking, type Message } from '../message/message.ts'

export type Markable = {
  readonly system?: string | readonly Block[] | undefined
  readonly tools?: readonly JsonObject[] | undefined
  readonly messages: readonly Message[]
  /** A `cache_control` here marks the last block and takes one of the four places. */
  readonly options?: JsonObject | undefined
}

export type Marking = {
  readonly lifetime: Lifetime
  /** Lifetime for tools, system prompt and anchors. Never shorter than that of the newest messages, which is the default. */
  readonly head?: Lifetime
  /** Indices where changes of the messages ended, oldest first. The next change begins after the last of them. */
  readonly anchors?: readonly number[]
}

type Lifetime = '5m' | '1h'

const maxMarks = 4
/** The API looks for a cached prefix this many blocks before a mark. */
const lookback = 20

/**
 * Keeps the host's own marks and uses the places that are left. The mark on the system prompt also covers the tools, so the tools
 * get one last, if a place is left.
 */
export function withCacheMarks<T extends Markable>(given: T, marking: Marking): T {
  const request = withLegalMarks(given)
  const { system = '', tools = [], messages } = request
  const own = marksIn(request)
  // Our marks come before the host's, and a mark for an hour may not follow one for five minutes.
  const isLong = own.some((mark) => lifetimeOf(mark) === '1h')
  const lifetime = isLong ? '1h' : marking.lifetime
  const head = isLong ? '1h' : (marking.head ?? lifetime)
  const free = maxMarks - own.length
  const isSystemFree = system.length > 0 && !hasMark(system)
  const isToolsFree = tools.length > 0 && !hasMark(tools)
  const isHeadFree = free > 0 && (isSystemFree || (system.length === 0 && isToolsFree))
  const places = placesIn(messages, marking.anchors ?? [], {
    max: free - (isHeadFree ? 1 : 0),
    isEndMarked: isObject(request.options?.cache_control),
  })
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const isSettled = (at: number) => at < last && marking.anchors?.includes(at) === true
  const isToolsLeft = isToolsFree && (system.length === 0 ? isHeadFree : places.size + (isHeadFree ? 1 : 0) < free)
  return withLegalMarks({
    ...request,
    ...(isToolsLeft ? { tools: [...tools.slice(0, -1), { ...tools.at(-1), cache_control: markOf(head) }] } : {}),
    ...(isSystemFree && isHeadFree ? { system: markedBlocks(blocksOf(system), markOf(head)) } : {}),
    messages: messages.map((message, at) =>
      places.has(at)
        ? {
            role: message.role,
            content: markedBlocks(blocksOf(message.content), markOf(isSettled(at) ? head : lifetime)),
          }
        : message,
    ),
  })
}

/**
 * Limits marks to four, and removes those for an hour after one for five minutes. The marks of system prompt and tools have
 * priority, then the newest. Returns the same object if nothing changes.
 */
export function withLegalMarks<T extends Markable>(request: T): T {
  const marks = marksIn(request)
  const firstShort = marks.findIndex((mark) => lifetimeOf(mark) === '5m')
  const isOrdered = firstShort < 0 || marks.slice(firstShort).every((mark) => lifetimeOf(mark) === '5m')
  if (marks.length <= maxMarks && isOrdered) return request
  const { tools, system, messages, options } = request
  const isAutomatic = isObject(options?.cache_control)
  const inHead = marksOf([tools, system]).length
  const inMessages = marksOf(messages).length
  const newest = Math.max(0, maxMarks - inHead - (isAutomatic ? 1 : 0))
  let isShort = false
  // Visits marks in the order in which the API reads the prompt.
  const counting = (isKept: (at: number) => boolean) => {
    let count = 0
    return (mark: JsonObject): JsonObject | undefined => {
      if (!isKept(count++)) return undefined
      if (lifetimeOf(mark) === '1h') return isShort ? markOf('5m') : mark
      isShort = true
      return mark
    }
  }
  const head = counting((at) => at >= inHead - maxMarks + (isAutomatic ? 1 : 0))
  const body = counting((at) => at >= inMessages - newest)
  return {
    ...request,
    ...defined({ tools: tools && remarked(tools, head), system: system && remarked(system, head) }),
    messages: remarked(messages, body),
    ...(isAutomatic && isShort ? { options: { ...options, cache_control: markOf('5m') } } : {}),
  }
}

/** Replaces each mark by what `change` returns. The mark on a result comes after the marks on its parts. */
function remarked<T>(value: T, change: (mark: JsonObject) => JsonObject | undefined): T {
  if (Array.isArray(value)) return value.map((item) => remarked(item, change)) as T
  if (!isObject(value)) return value
  const { cache_control: mark, ...rest } = value
  const content = Array.isArray(rest.content) ? { content: remarked(rest.content, change) } : {}
  const changed = isObject(mark) ? change(mark) : undefined
  return { ...rest, ...content, ...defined({ cache_control: changed }) } as T
}

/** All marks of a request, in the order in which the API reads the prompt. */
function marksIn({ tools, system, messages, options }: Markable): readonly JsonObject[] {
  const automatic = options?.cache_control
  return [...marksOf([tools, system, messages]), ...(isObject(automatic) ? [automatic] : [])]
}

function marksOf(value: unknown): readonly JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(marksOf)
  if (!isObject(value)) return []
  const inside = Array.isArray(value.content) ? marksOf(value.content) : []
  return isObject(value.cache_control) ? [...inside, value.cache_control] : inside
}

function hasMark(value: unknown): boolean {
  return marksOf(value).length > 0
}

function lifetimeOf({ ttl }: JsonObject): Lifetime {
  return ttl === '1h' ? '1h' : '5m'
}

function markOf(lifetime: Lifetime): JsonObject {
  return { type: 'ephemeral', ...(lifetime === '1h' ? { ttl: '1h' } : {}) }
}

/** The last user message, the one before it if the answer between them is too long, then where changes ended. */
function placesIn(
  messages: readonly Message[],
  anchors: readonly number[],
  { max, isEndMarked }: { readonly max: number; readonly isEndMarked: boolean },
): ReadonlySet<number> {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const before = messages.findLastIndex(({ role }, at) => role === 'user' && at < last)
  const between = messages.slice(before + 1, last + 1).reduce((sum, { content }) => sum + blocksOf(content).length, 0)
  const isFar = between >= lookback
  const wanted = [...(isEndMarked ? [] : [last]), ...(isFar ? [before] : []), ...anchors.toReversed(), before].filter(
    (at) => at >= 0,
  )
  const unmarked = [...new Set(wanted)].filter((at) => !endsMarked(messages[at]))
  return new Set(unmarked.slice(0, Math.max(0, max)))
}

/** True if the host has already marked the block that we would mark. */
function endsMarked(message: Message | undefined): boolean {
  const blocks = blocksOf(message?.content)
  return isObject(blocks[markableIn(blocks)]?.cache_control)
}

/** Index of the last block that may be marked, or -1. */
function markableIn(blocks: readonly Block[]): number {
  return blocks.findLastIndex(
    (block) => !isThinking(block) && block.type !== 'cache_edits' && !(isText(block) && block.text.trim() === ''),
  )
}

export function markedBlocks(blocks: readonly Block[], mark: JsonObject): readonly Block[] {
  const at = markableIn(blocks)
  return blocks.map((block, index) => (index === at ? { ...block, cache_control: mark } : block))
}
