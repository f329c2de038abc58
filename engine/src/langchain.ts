// everlong/langchain: endless conversations for agents of LangChain, as one middleware or as a context edit.
import { type AdapterOptions, type AdapterSessions, adapterSessions } from './adapter-sessions.ts'
import { type ChatModelLike, chatModelClient, loadClasses, nameOf } from './adapters/langchain/client.ts'
import { type LangChainClasses, type LangChainMessage, langChainConverter } from './adapters/langchain/messages.ts'
import {
  createContextEdit,
  createLangChainMiddleware,
  type LangChainCall,
  type LangChainEdit,
  type LangChainMiddleware,
  type LangChainParts,
} from './adapters/langchain/middleware.ts'
import type { ModelClient } from './core/ports/model.ts'

export { HistoryMismatchError } from './adapters/history/managed-history.ts'
export type { LangChainCall } from './adapters/langchain/middleware.ts'

/** Without `sessionId`, the conversation of a call is `configurable.thread_id`. */
export type LangChainOptions = AdapterOptions<LangChainCall> & {
  /** Writes the summaries: a chat model of LangChain, or a client of Everlong. Default: the agent's own model. */
  readonly model?: ChatModelLike | ModelClient
  /** Maximum characters of a tool result. A longer one is shortened, with its original as the artifact. Default: 60,000. */
  readonly maxResultLength?: number
}

export type LangChain = AdapterSessions & {
  /** For `createAgent({ middleware: [middleware] })`. */
  readonly middleware: LangChainMiddleware
  /** For `contextEditingMiddleware({ edits: [edit] })`: reduces each request, without recovery after an overflow. */
  readonly edit: LangChainEdit
}

const defaultMaxResultLength = 60_000

export function everlong({
  model,
  maxResultLength = defaultMaxResultLength,
  ...options
}: LangChainOptions = {}): LangChain {
  const classes = loadClasses()
  let loaded: LangChainClasses
  let called: ChatModelLike | undefined
  const asked = (): ChatModelLike => {
    if (!called) throw new Error('The agent has not called its model yet, so nobody can write a summary.')
    return called
  }
  const own = model && 'invoke' in model ? model : undefined
  const client = model && 'send' in model ? model : chatModelClient(() => own ?? asked(), classes)
  const { historyOf, sessions } = adapterSessions<LangChainMessage, LangChainCall>(options, {
    converter: langChainConverter(() => loaded),
    client: model && client,
    howToName:
      'Invoke the agent with `{ configurable: { thread_id: chat.id } }`, or pass `sessionId` to everlong(), which the edit always needs.',
  })
  const parts: LangChainParts = {
    classes,
    historyOf: async (host, current = called) => {
      called = current
      loaded = await classes()
      const name = current && nameOf(current)
      const call = { host, id: host.threadId, messages: host.messages, client: () => client }
      return historyOf({ ...call, model: name, asksCalled: !model })
    },
    model: () => called && { client, name: nameOf(called) },
    maxResultLength,
  }
  return { middleware: createLangChainMiddleware(parts), edit: createContextEdit(parts), ...sessions }
}
