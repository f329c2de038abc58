// everlong/ai-sdk: endless conversations for the Vercel AI SDK, as a middleware for any language model or as a prepareStep.
import {
  type AdapterOptions,
  type AdapterSessions,
  adapterSessions,
  joinedSessions,
  storedById,
} from './adapter-sessions.ts'
import { aiHistories, summarizerOf } from './adapters/ai-sdk/call.ts'
import { type AiMessage, aiSdkConverter, type FileShape } from './adapters/ai-sdk/messages.ts'
import {
  createMiddleware,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Middleware,
} from './adapters/ai-sdk/middleware.ts'
import { createPrepareStep, type PrepareStep, type Step } from './adapters/ai-sdk/prepare-step.ts'
import type { ModelClient } from './core/ports/model.ts'

export { HistoryMismatchError } from './adapters/history/managed-history.ts'

/** The parts of a call that `sessionId` can look at. */
export type AiSdkCall = Pick<LanguageModelV4CallOptions, 'prompt' | 'providerOptions' | 'headers'> | Step

/** Without `sessionId`, a call names its conversation in `providerOptions.everlong.sessionId`. */
export type AiSdkOptions = AdapterOptions<AiSdkCall> & {
  /** Writes the summaries: a model of the AI SDK or a client of Everlong. Default: the called model. */
  readonly model?: LanguageModelV4 | ModelClient
}

export type AiSdk = AdapterSessions & {
  /** For `wrapLanguageModel({ model, middleware })`. Use this or `prepareStep`, not both. */
  readonly middleware: LanguageModelV4Middleware
  /** For `generateText`, `streamText` and agents. It does not recover from an overflow that the provider reports. */
  readonly prepareStep: PrepareStep
}

export function everlong({ model, ...options }: AiSdkOptions = {}): AiSdk {
  const stored = storedById(options, summarizerOf(model, { converter: aiSdkConverter('tagged') }))
  const histories = (files: FileShape) => {
    const converter = aiSdkConverter(files)
    const part = adapterSessions<AiMessage, AiSdkCall>(options, { converter, howToName, stored })
    return { ...part, historyOf: aiHistories({ converter, model, historyOf: part.historyOf }) }
  }
  const prompts = histories('tagged')
  const steps = histories('bare')
  return {
    middleware: createMiddleware(prompts.historyOf),
    prepareStep: createPrepareStep(steps.historyOf, options.settings?.cacheMarks ?? '5m'),
    ...joinedSessions(prompts, steps, stored),
  }
}

const howToName =
  'Pass `providerOptions: { everlong: { sessionId: chat.id } }` with it, or `sessionId` to everlong(), for prepareStep a function of the step.'
