// Turns a script's answer into the content of a message: adds ids and signatures, applies stop sequences and limits.
import type { Block } from 'everlong'
import { isText, isThinking, isToolUse } from 'everlong/internal'
import type { Ids } from '../ports.ts'
import { blockTokens, type PromptPorts } from '../prompt/prompt.ts'
import { hidesThinking, type MessagesRequest, thinks } from '../request/request.ts'
import type { Answer } from '../script/script.ts'
import { advance, type BindingPorts, type Place, signThinking } from '../thinking/binding.ts'

export type Finished = {
  readonly content: readonly Block[]
  readonly stopReason: string
  readonly stopSequence: string | null
  readonly outputTokens: number
  readonly thinkingTokens: number
}

export type FinishContext = {
  readonly request: MessagesRequest
  readonly ports: PromptPorts & BindingPorts & { readonly ids: Ids }
  readonly place: Place
  /** Available output tokens, and the stop reason when they run out. */
  readonly limit: { readonly tokens: number; readonly reason: 'max_tokens' | 'model_context_window_exceeded' }
}

type Piece = {
  readonly content: readonly Block[]
  readonly stop?: { readonly reason: string; readonly sequence?: string }
}

export function finish(answer: Answer, context: FinishContext): Finished {
  const spoken = answer.content.filter((block) => !isThinking(block) || thinks(context.request))
  const whole = answer.endless === true ? repeatLast(spoken, context) : spoken
  const stopped = stopAt(whole, context.request.stopSequences)
  const limited = limit(stopped, context)
  const content = sealed(limited.content, context)
  const hasTool = content.some(isToolUse)
  return {
    content,
    stopReason: limited.stop?.reason ?? answer.stopReason ?? (hasTool ? 'tool_use' : 'end_turn'),
    stopSequence: limited.stop?.sequence ?? null,
    outputTokens: Math.max(1, tokensOf(content, context)),
    thinkingTokens: tokensOf(content.filter(isThinking), context),
  }
}

function tokensOf(content: readonly Block[], context: FinishContext): number {
  return content.reduce((sum, block) => sum + blockTokens(block, context.ports), 0)
}

function repeatLast(content: readonly Block[], context: FinishContext): readonly Block[] {
  const last = content.findLast(isText)
  if (last === undefined) return content
  const once = Math.max(1, context.ports.tokenizer.count(last.text))
  const times = Math.ceil(context.limit.tokens / once) * 2 + 1
  return content.map((block) => (block === last ? { ...block, text: `${last.text} `.repeat(times) } : block))
}

function stopAt(content: readonly Block[], sequences: readonly string[]): Piece {
  for (const [at, block] of content.entries()) {
    if (!isText(block)) continue
    const found = sequences
      .map((sequence) => ({ sequence, position: block.text.indexOf(sequence) }))
      .filter(({ position }) => position >= 0)
      .toSorted((a, b) => a.position - b.position)[0]
    if (found === undefined) continue
    const cut = { ...block, text: block.text.slice(0, found.position) }
    const kept = [...content.slice(0, at), ...(cut.text === '' ? [] : [cut])]
    return { content: kept, stop: { reason: 'stop_sequence', sequence: found.sequence } }
  }
  return { content }
}

/** Text is cut at the limit. A tool use that does not fit whole is dropped. */
function limit(piece: Piece, context: FinishContext): Piece {
  let left = context.limit.tokens
  const kept: Block[] = []
  for (const block of piece.content) {
    const tokens = blockTokens(block, context.ports)
    if (tokens > left)
      return { content: [...kept, ...cut(block, left, context)], stop: { reason: context.limit.reason } }
    kept.push(block)
    left -= tokens
  }
  return piece
}

function cut(block: Block, tokens: number, context: FinishContext): readonly Block[] {
  if (!isText(block)) return []
  const text = context.ports.tokenizer.cut(block.text, tokens)
  return text === '' ? [] : [{ ...block, text }]
}

/** Signs each thinking block for its place: after the request and the earlier blocks of the answer. */
function sealed(content: readonly Block[], context: FinishContext): readonly Block[] {
  const { request, ports } = context
  const hides = hidesThinking(request)
  let place = context.place
  return content.map((block) => {
    if (isThinking(block)) {
      const isSigned = typeof (block.type === 'thinking' ? block.signature : block.data) === 'string'
      if (isSigned) return block
      const tokens = blockTokens(block, ports)
      const signed = signThinking(block, place, { model: request.model, signer: ports.signer, tokens, hides })
      place = signed.place
      return signed.block
    }
    const named = isToolUse(block) || block.type !== 'tool_use' ? block : { ...block, id: ports.ids('toolu') }
    place = advance(place, named, { role: 'assistant', request, ports })
    return named
  })
}
