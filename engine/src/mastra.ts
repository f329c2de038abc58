// everlong/mastra: endless conversations for Mastra, as a processor that reduces each prompt and recovers after an overflow.
import { type AdapterOptions, sessionStarter } from './adapter-sessions.ts'
import { aiConversations } from './adapters/ai-sdk/conversations.ts'
import { createProcessor, type MastraProcessor, type MastraRequest, threadIn } from './adapters/mastra/processor.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { EngineSession } from './engine.ts'

export type { MastraFailure, MastraProcessor, MastraRequest } from './adapters/mastra/processor.ts'

/** `sessionId` left out: the thread of the request counts. */
export type MastraOptions = AdapterOptions<MastraRequest<readonly object[]>> & {
  /** Writes the summaries. Default: the agent's model. */
  readonly model?: ModelClient
}

export type Mastra = {
  /** For `inputProcessors` and `errorProcessors` of an agent. */
  readonly processor: MastraProcessor
  /** In order of use, the newest last. */
  readonly sessions: () => readonly EngineSession[]
  /** Closes all sessions that were opened here. */
  readonly close: () => Promise<void>
}

export function everlong(options: MastraOptions = {}): Mastra {
  const { model, sessionId, ...rest } = options
  const start = sessionStarter(rest)
  const { session, mostConversations: most } = rest
  const conversations = aiConversations({ files: 'bare', model, session, start, most })
  const idOf = (request: MastraRequest<readonly object[]>) =>
    typeof sessionId === 'function' ? sessionId(request) : (sessionId ?? threadIn(request))
  return {
    processor: createProcessor({ conversations, idOf }),
    sessions: () => conversations.all().map((history) => history.session as EngineSession),
    close: conversations.close,
  }
}
