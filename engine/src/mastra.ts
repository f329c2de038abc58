// everlong/mastra: endless conversations for Mastra, as a processor that reduces each prompt and recovers after an overflow.
import { type AdapterOptions, type AdapterSessions, adapterSessions } from './adapter-sessions.ts'
import { aiHistories } from './adapters/ai-sdk/call.ts'
import { type AiMessage, aiSdkConverter } from './adapters/ai-sdk/messages.ts'
import { createProcessor, type MastraProcessor, type MastraRequest } from './adapters/mastra/processor.ts'
import type { ModelClient } from './core/ports/model.ts'

/** Without `sessionId`, the conversation of a call is its thread. */
export type MastraOptions = AdapterOptions<MastraRequest<readonly object[]>> & {
  /** Writes the summaries. Default: the agent's model. */
  readonly model?: ModelClient
}

export type Mastra = AdapterSessions & {
  /** For `inputProcessors` and `errorProcessors` of an agent. */
  readonly processor: MastraProcessor
}

export function everlong({ model, ...options }: MastraOptions = {}): Mastra {
  const converter = aiSdkConverter('bare')
  const { historyOf, sessions } = adapterSessions<AiMessage, MastraRequest<readonly object[]>>(options, {
    converter,
    howToName: 'Call the agent with `memory: { thread, resource }`, or pass `sessionId` to everlong().',
  })
  return { processor: createProcessor(aiHistories({ converter, model, historyOf })), ...sessions }
}
