// The two requests for a summary. The first is the conversation's own with one message behind it, so that its whole
// prefix is read from the cache; the second stands on its own feet. Nothing is sent from here.
import { modelFacts } from '../../catalog/models.ts'
import { type Block, blocksOf } from '../../message/block.ts'
import { isObject } from '../../message/json.ts'
import type { Message } from '../../message/message.ts'
import type { ModelRequest } from '../../ports/model.ts'
import { summarizerSystem } from '../../prompts/summary.ts'
import { markedBlocks } from '../../request/cache-marks.ts'
import { requestMessages } from './prepare.ts'

/**
 * Same model, system, tools, thinking, options and messages, and one message more. No output limit of its own: that
 * would change the thinking budget, and with it the key of the cache. No mark of its own: nothing is written to the
 * cache, except where the conversation asks for that itself with a mark at its top level, which goes to the last block,
 * whatever it is.
 */
export function sharingRequest(conversation: ModelRequest, prompt: string): ModelRequest {
  return { ...conversation, source: 'compact', messages: [...conversation.messages, asking(prompt)] }
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

function asking(prompt: string): Message {
  return { role: 'user', content: [{ type: 'text', text: prompt }] }
}

export type DirectInput = {
  readonly model: string
  readonly messages: readonly Message[]
  readonly prompt: string
  readonly maxTokens: number
}

/** A short system prompt, no tools, no thinking where it can be switched off. */
export function directRequest({ model, messages, prompt, maxTokens }: DirectInput): ModelRequest {
  const facts = modelFacts(model)
  const canSwitchOff = facts !== undefined && facts.thinking !== 'always' && facts.thinking !== 'none'
  return {
    source: 'compact',
    model,
    system: summarizerSystem,
    messages: requestMessages([...messages, asking(prompt)]),
    maxTokens,
    ...(canSwitchOff && facts.thinksUnasked ? { thinking: { type: 'disabled' } } : {}),
  }
}

/** The request that was answered, the answer, and the wish for a shorter one. */
export function shorterRequest(
  { request, answer }: { readonly request: ModelRequest; readonly answer: { readonly content: readonly Block[] } },
  prompt: string,
): ModelRequest {
  return { ...request, messages: [...request.messages, { role: 'assistant', content: answer.content }, asking(prompt)] }
}

export const mostOutput = 20_000

/** The smaller of what a summary may need and what the model can write. */
export function outputLimit(model: string, maxOutput: number | undefined): number {
  return Math.min(mostOutput, maxOutput ?? modelFacts(model)?.maxOutput ?? mostOutput)
}

/** Of the request for it, and of every later one that carries its block. */
export const onDemandBeta = 'compact-2026-09-04'

/**
 * The provider's own compaction of this conversation, asked for now. Options that it refuses beside it are left out; the
 * rest is the conversation's own request, so its cache is read.
 */
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

/** What the provider wrote, as if a model had said it: it is judged, verified and mended like any other summary. */
export function onDemandText(content: readonly Block[]): readonly Block[] {
  return content.map((block) =>
    block.type === 'compaction' && typeof block.content === 'string' ? { type: 'text', text: block.content } : block,
  )
}
