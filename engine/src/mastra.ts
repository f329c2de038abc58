// everlong/mastra: endless conversations for Mastra, as a processor that reduces each prompt and recovers after an overflow.
import { type AdapterOptions, adapterSessions } from './adapter-sessions.ts'
import { aiConversations } from './adapters/ai-sdk/conversations.ts'
import { aiSdkConverter } from './adapters/ai-sdk/converter.ts'
import type { AiMessage } from './adapters/ai-sdk/messages.ts'
import { createProcessor, type MastraProcessor, type MastraRequest, threadIn } from './adapters/mastra/processor.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { Session } from './core/session/session-api.ts'

/** `sessionId` left out: the thread of the request counts. */
export type MastraOptions = AdapterOptions<MastraRequest<readonly object[]>> & {
  /** Writes the summaries. Default: the agent's model. */
  readonly model?: ModelClient
}

export type Mastra = {
  /** For `inputProcessors` and `errorProcessors` of an agent. */
  readonly processor: MastraProcessor
  /** In order of use, the newest last. */
  readonly sessions: () => readonly Session[]
  /** Closes all sessions that were opened here. */
  readonly close: () => Promise<void>
}

export function everlong({ model, ...options }: MastraOptions = {}): Mastra {
  const converter = aiSdkConverter('bare')
  const { historyOf, sessions, close } = adapterSessions<AiMessage, MastraRequest<readonly object[]>>(
    { sessionId: threadIn, ...options },
    { converter, howToName: 'Call the agent with `memory: { thread, resource }`, or pass `sessionId` to everlong().' },
  )
  return { processor: createProcessor(aiConversations({ converter, model, historyOf })), sessions, close }
}
