// Tool uses and their results: each use is answered at the start of the next turn, each result follows its use.
import { isToolResult, isToolUse } from 'everlong/internal'
import { invalid, type Problem } from '../http/problem.ts'
import { type MessagesRequest, type PlacedBlock, type Turn, turnsOf } from '../request/request.ts'

export function hasUniqueUses(request: MessagesRequest): Problem | undefined {
  const seen = new Set<string>()
  for (const turn of turnsOf(request.messages)) {
    for (const { block, path } of turn.blocks) {
      if (!isToolUse(block)) continue
      if (seen.has(block.id)) return invalid(`${path}: \`tool_use\` ids must be unique`)
      seen.add(block.id)
    }
  }
  return undefined
}

export function pairsTools(request: MessagesRequest): Problem | undefined {
  const turns = turnsOf(request.messages)
  for (const [at, turn] of turns.entries()) {
    const problem =
      turn.role === 'assistant' ? unanswered(turn, turns[at + 1]) : (orphaned(turn, turns[at - 1]) ?? repeated(turn))
    if (problem) return problem
  }
  return undefined
}

/** Results count only at the start of the turn; text before them hides them. */
function unanswered(turn: Turn, next: Turn | undefined): Problem | undefined {
  const answered = new Set<string>()
  for (const { block } of next?.blocks ?? []) {
    if (!isToolResult(block)) break
    answered.add(block.tool_use_id)
  }
  const open = turn.blocks.filter(({ block }) => isToolUse(block) && !answered.has(block.id))
  const first = open[0]
  if (first === undefined) return undefined
  const ids = open.map(({ block }) => block.id).join(', ')
  return invalid(
    `messages.${first.message.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. ` +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  )
}

function orphaned(turn: Turn, previous: Turn | undefined): Problem | undefined {
  const uses = new Set(previous?.blocks.map(({ block }) => (isToolUse(block) ? block.id : undefined)))
  for (const { id, path } of resultsOf(turn)) {
    if (uses.has(id)) continue
    return invalid(
      `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
        'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    )
  }
  return undefined
}

function repeated(turn: Turn): Problem | undefined {
  const seen = new Set<string>()
  for (const { id, path } of resultsOf(turn)) {
    if (seen.has(id)) {
      return invalid(
        `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      )
    }
    seen.add(id)
  }
  return undefined
}

function resultsOf(turn: Turn): readonly { readonly id: string; readonly path: string }[] {
  return turn.blocks.flatMap(({ block, path }: PlacedBlock) =>
    isToolResult(block) ? [{ id: block.tool_use_id, path }] : [],
  )
}
