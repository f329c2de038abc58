// Makes messages ready for a summarizer that gets them in a request of its own: smaller, without media, without thinking,
// with every call and result paired. The conversation itself is never changed.
import { type Block, blocksOf, isMedia, isThinking, isToolResult, textOf } from '../../message/block.ts'
import type { Message, ViewMessage } from '../../message/message.ts'
import { repairRequest } from '../../request/repair.ts'

/** Injected again after every compaction anyway, or of no use to anybody who reads a summary. */
const reinjected = new Set([
  'skill_listing',
  'agent_listing_delta',
  'deferred_tools_delta',
  'mcp_instructions_delta',
  'tool_announcement',
  'nested_memory',
  'output_style',
  'plan_mode',
  'plan_mode_reentry',
  'todo_reminder',
  'task_reminder',
  'token_usage',
])

/** One for each message that a summarizer is to see, in their order; not merged yet. */
export function preparedMessages(pieces: readonly ViewMessage[]): readonly PreparedMessage[] {
  const found: PreparedMessage[] = []
  const last = pieces.findLastIndex((piece) => isShown(piece) && !isOnlyThinking(piece))
  for (const piece of pieces.slice(0, last + 1)) {
    const content = isShown(piece) ? preparedContent(piece) : []
    if (content.length === 0) continue
    const { role, messageId } = piece
    found.push(messageId === undefined ? { role, content, piece } : { role, content, piece, messageId })
  }
  return found
}

/** With the piece it came from, so that what has to be left out can still be read. */
export type PreparedMessage = Message & {
  readonly content: readonly Block[]
  readonly piece: ViewMessage
  readonly messageId?: string
}

/** As a request carries them: neighbours merged, calls and results paired, no thinking. */
export function requestMessages(messages: readonly Message[]): readonly Message[] {
  return repairRequest(merged(messages), { thinking: 'strip-all' }).messages
}

/** A repair would merge them too, but goes several times over every stretch in which anything is to be done. */
function merged(messages: readonly Message[]): readonly Message[] {
  const runs: Message[] = []
  let own: Block[] | undefined
  for (const { role, content } of messages) {
    const last = runs.at(-1)
    if (last?.role !== role) {
      runs.push({ role, content })
      own = undefined
      continue
    }
    if (own === undefined) {
      own = [...blocksOf(last.content)]
      runs[runs.length - 1] = { role, content: own }
    }
    for (const block of typeof content === 'string' ? blocksOf(content) : content) own.push(block)
  }
  return runs
}

function isShown({ origin, attachment }: ViewMessage): boolean {
  return origin !== 'attachment' || attachment === undefined || !reinjected.has(attachment)
}

function isOnlyThinking(message: ViewMessage | undefined): boolean {
  if (message?.role !== 'assistant') return false
  const blocks = blocksOf(message.content)
  return blocks.length > 0 && blocks.every(isThinking)
}

function preparedContent({ content, origin, attachment }: ViewMessage): readonly Block[] {
  if (origin === 'attachment') {
    const text = textOf(content)
    return text === ''
      ? []
      : [{ type: 'text', text: `<context kind="${attachment ?? 'unknown'}">\n${text}\n</context>` }]
  }
  const blocks = blocksOf(content)
  const isSent = (block: Block) => !isThinking(block) && withoutMedia(block) === block
  return blocks.every(isSent) ? blocks : blocks.filter((block) => !isThinking(block)).map(withoutMedia)
}

/** Large, useless for a text, and enough of them can make the request itself too long. */
function withoutMedia(block: Block): Block {
  if (isMedia(block)) return { type: 'text', text: `[${block.type}]` }
  if (!isToolResult(block) || typeof block.content === 'string' || block.content === undefined) return block
  const parts = blocksOf(block.content)
  return parts.some(isMedia) ? { ...block, content: parts.map(withoutMedia) } : block
}
