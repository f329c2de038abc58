// Everlong as middleware for language models: reduces the prompt before a call, and repeats a call that was still too long with a
// smaller prompt. Passes every other error unchanged.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Middleware,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { defined, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import type { Prepared, Recovered } from '../history/managed-history.ts'
import { type AiHistory, type AiHistoryOf, requestInput } from './call.ts'
import { type AiMessage, usageOf } from './messages.ts'

export type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Middleware }

type Params = LanguageModelV4CallOptions

export function createMiddleware(historyOf: AiHistoryOf<Params>): LanguageModelV4Middleware {
  /** The conversation of each parameters object that we returned. */
  const known = new WeakMap<Params, { readonly history: AiHistory; readonly prepared: Prepared<AiMessage> }>()
  return {
    specificationVersion: 'v4',
    transformParams: async ({ params, model, type }) => {
      const messages = messagesIn(params.prompt)
      const { prompt: _, abortSignal: __, ...rest } = params
      const id = stringAt(params.providerOptions?.everlong, 'sessionId')
      const call = { host: params, id, messages, model, params: rest as JsonObject, isStreaming: type === 'stream' }
      const { history, model: choice } = await historyOf(call)
      const base = requestInput(messages, rest as JsonObject)
      const prepared = await history.prepare(messages, { base, model: choice, signal: params.abortSignal })
      const reduced = withPrepared(params, prepared)
      known.set(reduced, { history, prepared })
      return reduced
    },
    wrapGenerate: async ({ doGenerate, params, model }) => {
      const { history, prepared } = known.get(params) ?? {}
      if (!history || !prepared) return doGenerate()
      const result = await history
        .run<LanguageModelV4GenerateResult>([], { prepared, signal: params.abortSignal }, async (sent) => {
          if (sent !== prepared) return model.doGenerate(withRecovered(params, sent))
          const first = await doGenerate()
          if (isFull(first)) throw new FullWindow(first)
          return first
        })
        .catch((error: unknown) => {
          if (error instanceof FullWindow) return error.result
          throw error
        })
      history.reportUsage(usageOf(result.usage))
      return result
    },
    wrapStream: async ({ doStream, params, model }) => {
      const { history } = known.get(params) ?? {}
      if (!history) return doStream()
      const again = async (error: unknown) => {
        const recovered = await history.recover(error, { signal: params.abortSignal })
        return recovered && model.doStream(withRecovered(params, recovered))
      }
      const first = await doStream().then(undefined, async (error: unknown) => {
        const second = await again(error)
        if (!second) throw error
        return second
      })
      const stream = recoveringStream(first.stream, {
        again: async (error) => (await again(error))?.stream,
        onUsage: (usage) => history.reportUsage(usageOf(usage)),
      })
      return { ...first, stream }
    },
  }
}

type PartStream = ReadableStream<LanguageModelV4StreamPart>
type ReadResult = { readonly done: boolean; readonly value?: LanguageModelV4StreamPart | undefined }

type RecoveryOptions = {
  /** The stream of the second try. Undefined if there is none. */
  readonly again: (error: unknown) => Promise<PartStream | undefined>
  readonly onUsage: (usage: unknown) => void
}

/** Parts that contain nothing of the answer yet. */
const beforeAnswer: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw', 'ping'])

/**
 * A stream that restarts once if the provider reports only inside the stream that the prompt was too long. After the first part
 * of the answer a restart is impossible, so an error passes unchanged.
 */
function recoveringStream(stream: PartStream, { again, onUsage }: RecoveryOptions): PartStream {
  let reader = stream.getReader()
  let mayRecover = true
  const next = async (): Promise<ReadResult> => {
    const read: ReadResult = await reader.read()
    const part = read.value
    if (part?.type === 'finish') onUsage(part.usage)
    if (!mayRecover || part === undefined || beforeAnswer.has(part.type)) return read
    mayRecover = false
    const second = part.type === 'error' ? await again(part.error) : undefined
    if (!second) return read
    await reader.cancel()
    reader = second.getReader()
    return next()
  }
  return new ReadableStream<LanguageModelV4StreamPart>({
    pull: async (controller) => {
      const { done, value } = await next()
      if (value !== undefined) controller.enqueue(value)
      if (done) controller.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Read like an error of the provider, so that the call is repeated. */
class FullWindow extends Error {
  readonly result: LanguageModelV4GenerateResult

  constructor(result: LanguageModelV4GenerateResult) {
    super('prompt is too long: the window was full before the answer began')
    this.result = result
  }
}

/** The window was full before the answer began. */
function isFull({ content, finishReason }: LanguageModelV4GenerateResult): boolean {
  return finishReason.raw === 'model_context_window_exceeded' && content.every(({ type }) => type === 'reasoning')
}

function withRecovered(params: Params, { messages, maxTokens }: Recovered<AiMessage>): Params {
  return { ...params, prompt: promptOf(messages), ...defined({ maxOutputTokens: maxTokens ?? params.maxOutputTokens }) }
}

function withPrepared(params: Params, { messages, outcome }: Prepared<AiMessage>): Params {
  const anthropic = objectAt(params.providerOptions, 'anthropic')
  const asks = objectAt(anthropic, 'thinking')?.type === 'enabled'
  const prompt = promptOf(messages)
  // Manual thinking cannot begin in the middle of an answer whose thinking was removed.
  if (!asks || outcome.type === 'blocked' || outcome.thinking !== undefined) return { ...params, prompt }
  const { thinking: _, ...rest } = anthropic ?? {}
  return { ...params, prompt, providerOptions: { ...params.providerOptions, anthropic: rest as never } }
}

/** The types of the SDK describe the same messages as ours, which are looser. */
function messagesIn(prompt: LanguageModelV4Prompt): readonly AiMessage[] {
  return prompt as unknown as readonly AiMessage[]
}

function promptOf(messages: readonly AiMessage[]): LanguageModelV4Prompt {
  return messages as unknown as LanguageModelV4Prompt
}
