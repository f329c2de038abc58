// everlong/ai-sdk: endless conversations for the Vercel AI SDK, as a middleware for any language model or as a prepareStep.
import { type AdapterOptions, sessionStarter } from './adapter-sessions.ts'
import { aiConversations } from './adapters/ai-sdk/conversations.ts'
import { createMiddleware } from './adapters/ai-sdk/middleware.ts'
import { createPrepareStep, type PrepareStep, type Step } from './adapters/ai-sdk/prepare-step.ts'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Middleware,
} from './adapters/ai-sdk/provider-types.ts'
import { stringAt } from './core/message/json.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { EngineSession } from './engine.ts'

export type { PrepareStep, Step } from './adapters/ai-sdk/prepare-step.ts'
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
  readonly sessions: () => readonly EngineSession[]
  /** Closes all sessions that were opened here. */
  readonly close: () => Promise<void>
}

export function everlong(options: AiSdkOptions = {}): AiSdk {
  const { model, sessionId, ...rest } = options
  const shared = { model, session: rest.session, start: sessionStarter(rest), most: rest.mostConversations }
  const prompts = aiConversations({ ...shared, files: 'tagged' })
  const steps = aiConversations({ ...shared, files: 'bare' })
  const idOf = (call: AiSdkCall) => (typeof sessionId === 'function' ? sessionId(call) : (sessionId ?? namedIn(call)))
  return {
    middleware: createMiddleware({ conversations: prompts, idOf }),
    prepareStep: createPrepareStep({ conversations: steps, idOf }),
    sessions: () => [...prompts.all(), ...steps.all()].map((history) => history.session as EngineSession),
    close: async () => {
      await prompts.close()
      await steps.close()
    },
  }
}

function namedIn(call: AiSdkCall): string | undefined {
  return 'providerOptions' in call ? stringAt(call.providerOptions?.everlong, 'sessionId') : undefined
}
