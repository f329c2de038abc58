// Which block answers which: tool uses and their results, of the client's tools and of the server's.
import { type Block, blocksOf, isToolResult, isToolUse } from './block.ts'
import type { Message } from './message.ts'

export type BlockPlace = { readonly message: number; readonly block: number }

export type Pair = {
  readonly id: string
  /** A server's tool is answered within the answer itself, a client's in the message after it. */
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

/** By id, in the order of the first block; those of the server's tools last. */
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
