// Marks for the prompt cache, at most four: behind tools or system prompt, where changes ended, and at the end.
import { type Block, blocksOf, isText, isThinking } from '../message/block.ts'
import type { JsonObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'

export type Markable = {
  readonly system?: string | readonly Block[] | undefined
  readonly tools?: readonly JsonObject[] | undefined
  readonly messages: readonly Message[]
}

export type Marking = {
  readonly lifetime: '5m' | '1h'
  /** Of tools and system prompt; never shorter than that of the messages, which is the default. */
  readonly head?: '5m' | '1h'
  /** Where changes of the messages ended, oldest first: the next change begins behind the last of them. */
  readonly anchors?: readonly number[]
}

const mostMarks = 4
/** A prefix is found again only so many blocks before a mark. */
const lookback = 20

/** The system prompt's mark covers the tools: theirs comes last, where one is left. */
export function withCacheMarks<T extends Markable>(
  request: T,
  { lifetime, head = lifetime, anchors = [] }: Marking,
): T {
  const { system = '', tools = [], messages } = request
  const hasHead = system.length > 0 || tools.length > 0
  const places = placesIn(messages, anchors, mostMarks - (hasHead ? 1 : 0))
  const isToolsLeft = system.length === 0 || places.size + 1 < mostMarks
  const headMark = markOf(head)
  return {
    ...request,
    ...(tools.length > 0 && isToolsLeft
      ? { tools: [...tools.slice(0, -1), { ...tools.at(-1), cache_control: headMark }] }
      : {}),
    ...(system.length > 0 ? { system: markedBlocks(blocksOf(system), headMark) } : {}),
    messages: messages.map((message, at) =>
      places.has(at)
        ? { role: message.role, content: markedBlocks(blocksOf(message.content), markOf(lifetime)) }
        : message,
    ),
  }
}

function markOf(lifetime: '5m' | '1h'): JsonObject {
  return { type: 'ephemeral', ...(lifetime === '1h' ? { ttl: '1h' } : {}) }
}

/** The last user message, the one before it if the answer between is too long, then where changes ended. */
function placesIn(messages: readonly Message[], anchors: readonly number[], most: number): ReadonlySet<number> {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const before = messages.findLastIndex(({ role }, at) => role === 'user' && at < last)
  const between = messages.slice(before + 1, last + 1).reduce((sum, { content }) => sum + blocksOf(content).length, 0)
  const isFar = between >= lookback
  const wanted = [last, ...(isFar ? [before] : []), ...anchors.toReversed(), before].filter((at) => at >= 0)
  return new Set([...new Set(wanted)].slice(0, most))
}

export function markedBlocks(blocks: readonly Block[], mark: JsonObject): readonly Block[] {
  const at = blocks.findLastIndex(
    (block) => !isThinking(block) && block.type !== 'cache_edits' && !(isText(block) && block.text.trim() === ''),
  )
  return blocks.map((block, index) => (index === at ? { ...block, cache_control: mark } : block))
}
