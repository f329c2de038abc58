// A language model of the AI SDK as a model client. It writes the summaries, so that the host need not configure the same model
// twice.

import { chatStopReason } from '../../core/message/chat-completions.ts'
import { isObject, type JsonObject, stringAt } from '../../core/message/json.ts'
import { isBlock } from '../../core/message/message.ts'
import { noTokens } from '../../core/message/usage.ts'
import {
  type ModelAnswer,
  type ModelClient,
  type ModelRequest,
  noCapabilities,
  type SendOptions,
  type StreamEvent,
} from '../../core/ports/model.ts'
import { systemPorts } from '../../models/ports.ts'
import type { FailedTry } from '../../models/retry.ts'
import { createCaller, type PerRequest } from '../../models/sdk.ts'
import type { Converter } from '../history/converter.ts'
import { failedTry } from '../history/failure.ts'
import { type AiMessage, usageOf } from './messages.ts'

/** The part of a language model (v2 to v4) that is used here. */
export type Generating = {
  readonly provider: string
  readonly modelId: string
  /** Only `doStream` can be used. */
  readonly streams?: boolean
  readonly doGenerate: (call: never) => PromiseLike<object>
  readonly doStream?: (
    call: never,
  ) => PromiseLike<{ readonly stream: AsyncIterable<unknown> | ReadableStream<unknown> }>
}

/** The conversation's own call, so that a request that continues it finds its prefix in the cache. */
export type OwnCall = {
  /** Providers describe tools differently when they stream, so a request that continues a stream must also stream. */
  readonly isStreaming: boolean
  readonly params: JsonObject
  readonly head: readonly AiMessage[]
  readonly toForeign: (messages: ModelRequest['messages']) => readonly AiMessage[]
}

export type ClientOptions = {
  readonly converter: Converter<AiMessage>
  /** The call of the summarized conversation. Undefined if only its messages are known. */
  readonly ownCall?: (() => OwnCall | undefined) | undefined
  /** Marks for the prompt cache reach the provider even if the conversation's own call is unknown. */
  readonly takesMarks?: boolean | undefined
}

export function languageModelClient(model: Generating, options: ClientOptions): ModelClient {
  const call = createCaller({}, systemPorts)
  const { ownCall, takesMarks = ownCall !== undefined } = options
  const hasCache = takesMarks && /anthropic/i.test(model.provider)
  return {
    provider: `ai-sdk ${model.provider}`,
    model: model.modelId,
    capabilities: () => ({ ...noCapabilities, promptCache: hasCache }),
    send: (request, sending = {}) => {
      const { isStreaming, params } = callFor(request, options)
      const generate = (isStreaming || model.streams) && model.doStream ? streamed(model) : model.doGenerate.bind(model)
      const attempt = (per: PerRequest) =>
        tried(() => generate({ ...params, abortSignal: per.signal } as never), { model: model.modelId, ...sending })
      return call(sending, attempt)
    },
  }
}

type SummaryCall = { readonly isStreaming: boolean; readonly params: JsonObject }

/** A request with the conversation's own system prompt continues it; all others stand alone. */
function callFor(request: ModelRequest, { converter, ownCall }: ClientOptions): SummaryCall {
  const own = ownCall?.()
  const system = textIn(request.system)
  if (own && system === systemText(own.head)) {
    const params = { ...own.params, prompt: [...own.head, ...own.toForeign(request.messages)] }
    return { isStreaming: own.isStreaming, params }
  }
  const { headers } = own?.params ?? {}
  const messages = request.messages.flatMap((message) => converter.write(message, () => undefined))
  const params = {
    prompt: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    ...(request.maxTokens === undefined ? {} : { maxOutputTokens: request.maxTokens }),
    ...(headers === undefined ? {} : { headers }),
  }
  return { isStreaming: false, params }
}

/** The system prompt of the session: the messages before the conversation. */
export function systemText(head: readonly AiMessage[]): string {
  return head.flatMap(({ content }) => (typeof content === 'string' ? content : [])).join('\n\n')
}

function textIn(system: ModelRequest['system']): string {
  if (typeof system === 'string') return system
  return (system ?? []).flatMap((block) => stringAt(block, 'text') ?? []).join('\n\n')
}

async function tried(
  generate: () => PromiseLike<object>,
  { model, onEvent, signal }: SendOptions & { readonly model: string },
): Promise<ModelAnswer | FailedTry> {
  try {
    const answer = answerOf(await generate(), model)
    const texts = answer.content.map(({ text }): StreamEvent => ({ type: 'text', text: String(text) }))
    for (const event of [...texts, { type: 'progress', outputTokens: answer.usage.output } as const]) {
      if (!signal?.aborted) onEvent?.(event)
    }
    return signal?.aborted ? { type: 'try-failed', reason: 'aborted', message: 'aborted' } : answer
  } catch (error) {
    return failedTry(error)
  }
}

/** Collects a stream into the result of `doGenerate`. */
function streamed(model: Generating): (call: never) => Promise<object> {
  return async (call) => {
    const result = await model.doStream?.(call)
    const gathered: { text: string; end: JsonObject; response: JsonObject } = { text: '', end: {}, response: {} }
    for await (const part of (result?.stream ?? []) as AsyncIterable<unknown>) {
      if (!isObject(part)) continue
      if (part.type === 'error') throw part.error
      if (part.type === 'text-delta') gathered.text += String(part.delta)
      if (part.type === 'finish') gathered.end = part
      if (part.type === 'response-metadata') gathered.response = part
    }
    return { ...gathered.end, response: gathered.response, content: [{ type: 'text', text: gathered.text }] }
  }
}

function answerOf(result: object, model: string): ModelAnswer {
  const { content, finishReason, usage, response } = result as JsonObject
  const unified = isObject(finishReason) ? stringAt(finishReason, 'unified') : String(finishReason)
  const texts = Array.isArray(content) ? content.filter(isBlock).filter(({ type }) => type === 'text') : []
  return {
    type: 'answer',
    id: stringAt(response, 'id') ?? '',
    model: stringAt(response, 'modelId') ?? model,
    content: texts.map(({ text }) => ({ type: 'text', text: String(text) })),
    stopReason: chatStopReason(String(unified).replaceAll('-', '_'), false),
    usage: usageOf(usage) ?? noTokens,
  }
}
