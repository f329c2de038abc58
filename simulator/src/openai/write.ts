// An answer as a chat completion: whole, or as the chunks of a stream.
import type { Block } from 'everlong'
import { isText, isToolUse } from 'everlong/internal'
import type { Finished } from '../answer/finish.ts'
import { pieces } from '../answer/pieces.ts'
import { promptTokens, type Sampling } from '../answer/usage.ts'

export type Completion = {
  readonly id: string
  readonly created: number
  readonly model: string
  readonly finished: Finished
  readonly sampling: Sampling
}

const fingerprint = 'fp_everlong'

export function completionBody(completion: Completion): object {
  const { content } = completion.finished
  const calls = content.filter(isToolUse).map(callOf)
  const text = textIn(content)
  return {
    ...head(completion, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          refusal: null,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
        logprobs: null,
        finish_reason: finishReason(completion.finished),
      },
    ],
    usage: chatUsage(completion.sampling),
  }
}

export function* completionChunks(completion: Completion, includesUsage: boolean): Generator<object | '[DONE]'> {
  const base = head(completion, 'chat.completion.chunk')
  const usage = includesUsage ? { usage: null } : {}
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...usage,
  })
  yield chunk({ role: 'assistant', content: '', refusal: null })
  const { content } = completion.finished
  for (const text of pieces(textIn(content))) yield chunk({ content: text })
  for (const [index, block] of content.filter(isToolUse).entries()) {
    const { id, type, function: named } = callOf(block)
    yield chunk({ tool_calls: [{ index, id, type, function: { name: named.name, arguments: '' } }] })
    for (const part of pieces(named.arguments)) yield chunk({ tool_calls: [{ index, function: { arguments: part } }] })
  }
  yield chunk({}, finishReason(completion.finished))
  if (includesUsage) yield { ...base, choices: [], usage: chatUsage(completion.sampling) }
  yield '[DONE]'
}

function head({ id, created, model }: Completion, object: string) {
  return { id, object, created, model, service_tier: 'default', system_fingerprint: fingerprint }
}

function textIn(content: readonly Block[]): string {
  return content
    .filter(isText)
    .map((block) => block.text)
    .join('')
}

function callOf(block: { readonly id: string; readonly name: string; readonly input: unknown }) {
  return { id: block.id, type: 'function', function: { name: block.name, arguments: JSON.stringify(block.input) } }
}

function finishReason({ stopReason }: Finished): string {
  if (stopReason === 'tool_use') return 'tool_calls'
  return stopReason === 'max_tokens' || stopReason === 'model_context_window_exceeded' ? 'length' : 'stop'
}

function chatUsage(sampling: Sampling): object {
  const prompt = promptTokens(sampling)
  return {
    prompt_tokens: prompt,
    completion_tokens: sampling.output,
    total_tokens: prompt + sampling.output,
    prompt_tokens_details: { cached_tokens: sampling.read, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  }
}
