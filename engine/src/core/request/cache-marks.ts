// Marks for the prompt cache, where the API looks for them: behind the tools or the system prompt, where a change of the
// messages ended, behind what the request before ended with, and at the end. At most four. They change no prefix and
// nothing that was handed in.
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
  /** Of tools and system prompt, which outlive every pause of the messages; as theirs unless told. Never the shorter one. */
  readonly head?: '5m' | '1h'
  /** Where changes of the messages ended, oldest first: the next change will begin behind the last of them. */
  readonly anchors?: readonly number[]
}

const mostMarks = 4
/** A prefix is found again only so many blocks before a mark. */
const lookback = 20

/** The system prompt's mark covers the tools: theirs comes last, where one is left. */
export function withCacheMarks<T extends Markable>(request: T, { lifetime, head, anchors = [] }: Marking): T {
  const mark = markOf(lifetime)
  const headMark = markOf(head ?? lifetime)
  const { system, tools, messages } = request
  const hasSystem = system !== undefined && system.length > 0
  const hasTools = tools !== undefined && tools.length > 0
  const places = placesIn(messages, anchors, mostMarks - (hasSystem || hasTools ? 1 : 0))
  const isToolsLeft = !hasSystem || places.size + 1 < mostMarks
  return {
    ...request,
    ...(hasTools && isToolsLeft ? { tools: markedLast(tools, headMark) } : {}),
    ...(hasSystem ? { system: markedBlocks(blocksOf(system), headMark) } : {}),
    messages: markedMessages(messages, places, mark),
  }
}

function markOf(lifetime: '5m' | '1h'): JsonObject {
  return { type: 'ephemeral', ...(lifetime === '1h' ? { ttl: '1h' } : {}) }
}

function markedLast(tools: readonly JsonObject[], mark: JsonObject): readonly JsonObject[] {
  return [...tools.slice(0, -1), { ...tools.at(-1), cache_control: mark }]
}

/**
 * The last user message first. The one before it where one answer with many calls is longer than a prefix is looked for;
 * then the places where changes ended, so that a change behind them leaves what is before them cached.
 */
function placesIn(messages: readonly Message[], anchors: readonly number[], most: number): ReadonlySet<number> {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const before = messages.findLastIndex(({ role }, at) => role === 'user' && at < last)
  const between = messages.slice(before + 1, last + 1).reduce((sum, { content }) => sum + blocksOf(content).length, 0)
  const isFar = between >= lookback
  const wanted = [last, ...(isFar ? [before] : []), ...anchors.toReversed(), before].filter((at) => at >= 0)
  return new Set([...new Set(wanted)].slice(0, most))
}

function markedMessages(
  messages: readonly Message[],
  places: ReadonlySet<number>,
  mark: JsonObject,
): readonly Message[] {
  const marked = messages.slice()
  for (const at of places) {
    const message = marked[at]
    if (message) marked[at] = { role: message.role, content: markedBlocks(blocksOf(message.content), mark) }
  }
  return marked
}

export function markedBlocks(blocks: readonly Block[], mark: JsonObject): readonly Block[] {
  const at = blocks.findLastIndex(canBeMarked)
  return blocks.map((block, index) => (index === at ? { ...block, cache_control: mark } : block))
}

function canBeMarked(block: Block): boolean {
  return !isThinking(block) && block.type !== 'cache_edits' && !(isText(block) && block.text.trim() === '')
}
