// The requests for a summary: the conversation's own with one message after it, so that its prefix is read from the
// cache; or a separate one, with messages made ready for it. Nothing is sent from here.
import { modelFacts } from '../../catalog/models.ts'
import { type Block, blocksOf, isMedia, isText, isThinking, isToolResult, textOf } from '../../message/block.ts'
import { isObject } from '../../message/json.ts'
import type { Message, ViewMessage } from '../../message/message.ts'
import type { ModelRequest } from '../../ports/model.ts'
import { summarizerSystem } from '../../prompts/summary.ts'
import { markedBlocks } from '../../request/cache-marks.ts'
import { onDemandBeta, repairRequest } from '../../request/repair.ts'

/**
 * Same model, system, tools, thinking, options and messages, and one message more. No output limit of its own: that
 * would change the thinking budget, and with it the key of the cache. No mark of its own: nothing is written to the
 * cache, except where the conversation asks for that itself with a mark at its top level. `before` comes before the prompt.
 */
export function sharingRequest(conversation: ModelRequest, prompt: string, before?: string): ModelRequest {
  return { ...conversation, source: 'compact', messages: [...conversation.messages, asking(prompt, before)] }
}

/**
 * The conversation's request up to this message. The cache is read at marks only, and the last one may be in the part that
 * is left out: then the last user message gets it. An earlier request ended there, so nothing is written.
 */
export function requestUpTo(conversation: ModelRequest, end: number): ModelRequest {
  const messages = conversation.messages.slice(0, end)
  const left = conversation.messages.slice(end).flatMap(({ content }) => blocksOf(content))
  const mark = left.findLast(({ cache_control }) => isObject(cache_control))?.cache_control
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const message = messages[last]
  if (!isObject(mark) || !message) return { ...conversation, messages }
  const content = markedBlocks(blocksOf(message.content), mark)
  return { ...conversation, messages: messages.with(last, { ...message, content }) }
}

function asking(prompt: string, before?: string): Message {
  return {
    role: 'user',
    content: [...(before === undefined ? [] : [before]), prompt].map((text) => ({ type: 'text', text })),
  }
}

type DirectInput = Pick<Required<ModelRequest>, 'model' | 'messages' | 'maxTokens'> & { readonly prompt: string }

/** A short system prompt, no tools, no thinking where it can be switched off. */
export function directRequest({ model, messages, prompt, maxTokens }: DirectInput): ModelRequest {
  const { thinking, thinksUnasked } = modelFacts(model) ?? {}
  const bare = [...messages, asking(prompt)].map(({ role, content }) => ({ role, content }))
  return {
    source: 'compact',
    model,
    system: summarizerSystem,
    messages: repairRequest(bare, { thinking: 'strip-all' }).messages,
    maxTokens,
    ...(thinksUnasked && thinking !== 'always' && thinking !== 'none' ? { thinking: { type: 'disabled' } } : {}),
  }
}

/** The request that was answered, the answer, and the wish for a shorter one. */
export function shorterRequest(
  { request, answer }: { readonly request: ModelRequest; readonly answer: { readonly content: readonly Block[] } },
  prompt: string,
): ModelRequest {
  return { ...request, messages: [...request.messages, { role: 'assistant', content: answer.content }, asking(prompt)] }
}

/** The provider's own compaction, with the cache of the conversation's request; options it refuses are left out. */
export function onDemandRequest(conversation: ModelRequest, instructions: string): ModelRequest {
  const {
    context_management: _management,
    stop_sequences: _stops,
    tool_choice: choice,
    ...rest
  } = conversation.options ?? {}
  const isOpen = isObject(choice) && (choice.type === 'auto' || choice.type === 'none')
  return {
    ...conversation,
    source: 'compact',
    betas: [...new Set([...(conversation.betas ?? []), onDemandBeta])],
    options: { ...rest, ...(isOpen ? { tool_choice: choice } : {}), compaction: { type: 'summarize', instructions } },
  }
}

/** What the provider wrote, as if a model had said it: it is judged and checked like any other summary. */
export function onDemandText(content: readonly Block[]): readonly Block[] {
  return content.map((block) =>
    block.type === 'compaction' && typeof block.content === 'string' ? { type: 'text', text: block.content } : block,
  )
}

/** Before an answer that would open a request whose oldest rounds were dropped. One in the conversation is left out. */
export const truncationMarker = '[earlier conversation truncated for compaction retry]'

/** Injected again after every compaction anyway, or of no use to anybody who reads a summary. */
const reinjected = new Set([
  'skill_listing',
  'skill_discovery',
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

/** With the piece it came from, so that a message that is left out can still be read. */
export type PreparedMessage = Message & {
  readonly content: readonly Block[]
  readonly piece: ViewMessage
  readonly messageId?: string
}

/** One for each message that a summarizer is to see, in their order: without media and thinking, not merged yet. */
export function preparedMessages(pieces: readonly ViewMessage[]): readonly PreparedMessage[] {
  return pieces.flatMap((piece) => {
    const content = preparedContent(piece)
    const { role, messageId } = piece
    return content.length === 0 ? [] : [{ role, content, piece, ...(messageId === undefined ? {} : { messageId }) }]
  })
}

function preparedContent({ content, origin, attachment }: ViewMessage): readonly Block[] {
  if (origin !== 'attachment') return blocksOf(content).filter(isPrepared).map(withoutMedia)
  const text = reinjected.has(attachment ?? '') ? '' : textOf(content)
  if (text === '') return []
  return [{ type: 'text', text: `<context kind="${attachment ?? 'unknown'}">\n${text}\n</context>` }]
}

function isPrepared(block: Block): boolean {
  return !isThinking(block) && !(isText(block) && block.text.trim() === truncationMarker)
}

/** Large, useless for a text, and enough of them can make the request itself too long. */
function withoutMedia(block: Block): Block {
  if (isMedia(block)) return { type: 'text', text: `[${block.type}]` }
  if (!isToolResult(block) || typeof block.content === 'string' || block.content === undefined) return block
  const parts = blocksOf(block.content)
  return parts.some(isMedia) ? { ...block, content: parts.map(withoutMedia) } : block
}
