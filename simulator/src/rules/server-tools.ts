// Tools that run on the server: a call is followed by its result, in the same answer or a later one, unless the
// conversation ends while the turn is paused on it.
import type { Block } from 'everlong'
import { isToolResult, pairHalfOf } from 'everlong/internal'
import { invalid, type Problem } from '../http/problem.ts'
import { type MessagesRequest, placedIn, turnsOf } from '../request/request.ts'

export function pairsServerTools(request: MessagesRequest): Problem | undefined {
  const open = new Map<string, Open>()
  const known = new Set<string>()
  for (const { block, path, message } of placedIn(request.messages)) {
    const half = pairHalfOf(block)
    if (half?.tool !== 'server') continue
    if (half.half === 'use') {
      if (known.has(half.id)) return invalid(`${path}: \`${block.type}\` ids must be unique`)
      known.add(half.id)
      open.set(half.id, { block, message: message.index })
    } else if (!open.delete(half.id)) return orphaned(block, path)
  }
  const paused = pausedMessages(request)
  const left = [...open.values()].find(({ message }) => !paused.has(message))
  return left && unanswered(left)
}

type Open = { readonly block: Block; readonly message: number }

function orphaned({ type, tool_use_id: id }: Block, path: string): Problem {
  const use = type === 'mcp_tool_result' ? 'mcp_tool_use' : 'server_tool_use'
  return invalid(
    `${path}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${String(id)}. ` +
      `Each \`${type}\` block must have a corresponding \`${use}\` block before it.`,
  )
}

function unanswered({ block, message }: Open): Problem {
  const name = block.type === 'mcp_tool_use' ? 'mcp' : String(block.name)
  return invalid(
    `messages.${message}: \`${name}\` tool use with id \`${String(block.id)}\` was found without a corresponding ` +
      `\`${name}_tool_result\` block`,
  )
}

/** The last answer, if only results of the client's own tools follow it. Text would end its turn. */
function pausedMessages({ messages }: MessagesRequest): ReadonlySet<number> {
  const turns = turnsOf(messages)
  const last = turns.at(-1)
  const isResults = last?.role === 'user' && last.blocks.every(({ block }) => isToolResult(block))
  const paused = isResults ? turns.at(-2) : last
  return new Set(paused?.role === 'assistant' ? paused.blocks.map(({ message }) => message.index) : [])
}
