// Messages as the next request would carry them, what each came from, and which tool result belongs to which call.
import { type Block, blocksOf, type Content, isToolResult, isToolUse } from './block.ts'
import type { Usage } from './usage.ts'

export type Role = 'user' | 'assistant'

/** Who put a message into the conversation. */
export type Origin =
  | 'human' // typed by a person
  | 'agent' // asked of a sub-agent by the agent that started it
  | 'assistant'
  | 'tool-result'
  | 'summary' // written by a compaction
  | 'attachment' // context the client injected as an attachment record
  | 'meta' // any other text the client injected: command output, caveats, reminders

/** True if the message asks for work. In the conversation of a sub-agent, requests come from another agent. */
export function isRequest(origin: Origin): boolean {
  return origin === 'human' || origin === 'agent'
}

export type Message = {
  readonly role: Role
  readonly content: Content
}

export type ViewMessage = Message & {
  readonly origin: Origin
  readonly uuid?: string
  /** Milliseconds since 1970. Absent if the record has no readable timestamp. */
  readonly time?: number
  /** The API's id. Messages that share it are parts of one answer. */
  readonly messageId?: string
  readonly model?: string
  /** Usage that the API reported. Absent on synthetic messages, whose zeros mean nothing. */
  readonly usage?: Usage
  readonly attachment?: string
}

export type BlockPlace = { readonly message: number; readonly block: number }

export type Pair = {
  readonly id: string
  /** The result of a server tool is in the same answer; the result of a client tool is in the next message. */
  readonly tool: 'client' | 'server'
  readonly uses: readonly BlockPlace[]
  readonly results: readonly BlockPlace[]
}

export type PairHalf = { readonly tool: Pair['tool']; readonly half: 'use' | 'result'; readonly id: string }

export function pairHalfOf(block: Block): PairHalf | undefined {
  if (isToolUse(block)) return { tool: 'client', half: 'use', id: block.id }
  if (isToolResult(block)) return { tool: 'client', half: 'result', id: block.tool_use_id }
  // server_tool_use, mcp_tool_use …; web_search_tool_result, advisor_tool_result, mcp_tool_result …
  if (block.type.endsWith('_tool_use') && typeof block.id === 'string') {
    return { tool: 'server', half: 'use', id: block.id }
  }
  if (block.type.endsWith('_tool_result') && typeof block.tool_use_id === 'string') {
    return { tool: 'server', half: 'result', id: block.tool_use_id }
  }
  return undefined
}

/** Pairs by id, ordered by first block. Pairs of server tools come last. */
export function pairsOf(messages: readonly Message[]): readonly Pair[] {
  const pairs = { client: new Map<string, GrowingPair>(), server: new Map<string, GrowingPair>() }
  for (const [message, { content }] of messages.entries()) {
    if (typeof content === 'string') continue
    for (const [block, item] of blocksOf(content).entries()) {
      const half = pairHalfOf(item)
      if (!half) continue
      const { tool, id } = half
      const pair = pairs[tool].get(id) ?? { id, tool, uses: [], results: [] }
      if (pair.uses.length + pair.results.length === 0) pairs[tool].set(id, pair)
      pair[half.half === 'use' ? 'uses' : 'results'].push({ message, block })
    }
  }
  return [...pairs.client.values(), ...pairs.server.values()]
}

type GrowingPair = Pair & { readonly uses: BlockPlace[]; readonly results: BlockPlace[] }
