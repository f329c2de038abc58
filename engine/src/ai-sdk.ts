// everlong/ai-sdk: endless conversations for the Vercel AI SDK, as a middleware for any language model or as a prepareStep.
import { type AdapterOptions, adapterSessions } from './adapter-sessions.ts'
import { aiConversations } from './adapters/ai-sdk/conversations.ts'
import { aiSdkConverter, type FileShape } from './adapters/ai-sdk/converter.ts'
import type { AiMessage } from './adapters/ai-sdk/messages.ts'
import {
  createMiddleware,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Middleware,
} from './adapters/ai-sdk/middleware.ts'
import { createPrepareStep, type PrepareStep, type Step } from './adapters/ai-sdk/prepare-step.ts'
import { stringAt } from './core/message/json.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { Session } from './core/session/session-api.ts'

export { HistoryMismatchError } from './adapters/history/managed-history.ts'

/** What is known of a call when its conversation is looked for. */
export type AiSdkCall = Pick<LanguageModelV4CallOptions, 'prompt' | 'providerOptions' | 'headers'> | Step

/** `sessionId` left out: `providerOptions.everlong.sessionId` of the call counts. */
export type AiSdkOptions = AdapterOptions<AiSdkCall> & {
  /** Writes the summaries: a model of the AI SDK or a client of Everlong. Default: the model that is called. */
  readonly model?: LanguageModelV4 | ModelClient
}

export type AiSdk = {
  /** For `wrapLanguageModel({ model, middleware })`. Use this or `prepareStep`, not both. */
  readonly middleware: LanguageModelV4Middleware
  /** For `generateText`, `streamText` and agents. An overflow that the provider reports is not recovered here. */
  readonly prepareStep: PrepareStep
  /** In order of use, the newest last. */
  readonly sessions: () => readonly Session[]
  /** Closes all sessions that were opened here. */
  readonly close: () => Promise<void>
}

export function everlong({ model, ...options }: AiSdkOptions = {}): AiSdk {
  const conversations = (files: FileShape) => {
    const converter = aiSdkConverter(files)
    const own = adapterSessions<AiMessage, AiSdkCall>({ sessionId: namedIn, ...options }, { converter, howToName })
    return { ...own, historyOf: aiConversations({ converter, model, historyOf: own.historyOf }) }
  }
  const prompts = conversations('tagged')
  const steps = conversations('bare')
  return {
    middleware: createMiddleware(prompts.historyOf),
    prepareStep: createPrepareStep(steps.historyOf),
    sessions: () => [...prompts.sessions(), ...steps.sessions()],
    close: async () => {
      await prompts.close()
      await steps.close()
    },
  }
}

const howToName =
  'Pass `providerOptions: { everlong: { sessionId: chat.id } }` with it, or `sessionId` to everlong(), for prepareStep a function of the step.'

function namedIn(call: AiSdkCall): string | undefined {
  return 'providerOptions' in call ? stringAt(call.providerOptions?.everlong, 'sessionId') : undefined
}
