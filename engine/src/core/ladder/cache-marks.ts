// Marks for the prompt cache, where the API looks for them: behind the tools, behind the system prompt, behind what the
// request before ended with, and at the end. At most four. They change no prefix and nothing that was handed in.
import { type Block, blocksOf, isText, isThinking } from '../message/block.ts'
import type { JsonObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'

export type Markable = {
  readonly system?: string | readonly Block[] | undefined
  readonly tools?: readonly JsonObject[] | undefined
  readonly messages: readonly Message[]
}

export function withCacheMarks<T extends Markable>(request: T, lifetime: '5m' | '1h'): T {
  const mark: JsonObject = { type: 'ephemeral', ...(lifetime === '1h' ? { ttl: '1h' } : {}) }
  const { system, tools, messages } = request
  return {
    ...request,
    ...(tools?.length ? { tools: markedLast(tools, mark) } : {}),
    ...(system?.length ? { system: markedBlocks(blocksOf(system), mark) } : {}),
    messages: markedMessages(messages, mark),
  }
}

function markedLast(tools: readonly JsonObject[], mark: JsonObject): readonly JsonObject[] {
  return [...tools.slice(0, -1), { ...tools.at(-1), cache_control: mark }]
}

/**
 * The last user message, and the one before it: a prefix is found again only within 20 blocks before a mark, and one
 * answer with many calls is longer than that.
 */
function markedMessages(messages: readonly Message[], mark: JsonObject): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const before = messages.findLastIndex(({ role }, at) => role === 'user' && at < last)
  const marked = messages.slice()
  for (const at of [before, last]) {
    const message = marked[at]
    if (message) marked[at] = { role: message.role, content: markedBlocks(blocksOf(message.content), mark) }
  }
  return marked
}

function markedBlocks(blocks: readonly Block[], mark: JsonObject): readonly Block[] {
  const at = blocks.findLastIndex(canBeMarked)
  return blocks.map((block, index) => (index === at ? { ...block, cache_control: mark } : block))
}

function canBeMarked(block: Block): boolean {
  return !isThinking(block) && block.type !== 'cache_edits' && !(isText(block) && block.text.trim() === '')
}
