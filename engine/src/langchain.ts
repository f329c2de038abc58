// everlong/langchain: endless conversations for agents of LangChain, as one middleware or as a context edit.
import { type AdapterOptions, type AdapterSessions, adapterSessions } from './adapter-sessions.ts'
import { type ChatModelLike, chatModelClient, nameOf } from './adapters/langchain/client.ts'
import { type LangChainMessage, langChainConverter, loadClasses } from './adapters/langchain/messages.ts'
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

export type LangChainOptions = AdapterOptions<LangChainCall> & {
  /** Writes the summaries: a chat model of LangChain, or a client of Everlong. Left out: the agent's own model. */
  readonly model?: ChatModelLike | ModelClient
  /** Characters of a tool result. A longer one is shortened, and its original kept as the artifact: 60,000 unless said. */
  readonly longestResult?: number
}

const usualLongestResult = 60_000

/** For `createAgent({ middleware: [everlong()] })`. */
export function everlong(options: LangChainOptions = {}): LangChainMiddleware {
  return createLangChainMiddleware(partsOf(options))
}

/** For `contextEditingMiddleware({ edits: [everlongEdit()] })`: reduces each request, without recovery after an overflow. */
export function everlongEdit(options: LangChainOptions = {}): LangChainEdit {
  return createContextEdit(partsOf(options))
}

const howToName =
  'Invoke the agent with `{ configurable: { thread_id: chat.id } }`, or pass `sessionId`, which everlongEdit() always needs.'

function partsOf({ model, longestResult = usualLongestResult, ...options }: LangChainOptions): LangChainParts {
  const classes = loadClasses()
  let newest: ChatModelLike | undefined
  const asked = (): ChatModelLike => {
    if (!newest) throw new Error('The agent has not called its model yet, so nobody can write a summary.')
    return newest
  }
  const client =
    model && 'send' in model
      ? model
      : chatModelClient(() => (model as ChatModelLike | undefined) ?? asked(), { classes })
  let sessions: AdapterSessions<LangChainMessage, LangChainCall> | undefined
  const byThread = { sessionId: ({ threadId }: LangChainCall) => threadId, ...options }
  return {
    classes,
    historyOf: async (call) => {
      const loaded = await classes()
      const converter = langChainConverter(loaded)
      sessions ??= adapterSessions(byThread, { converter, howToName })
      const name = newest ? nameOf(newest) : client.model
      return sessions.historyOf(call, call.messages, () => ({ client, model: name, asksCalled: !model }))
    },
    // The window is that of the model that is called, also where another one writes the summaries.
    isReady: () => newest !== undefined,
    modelFor: (own) => {
      newest = own
      return options.session ? undefined : { client, name: nameOf(own) }
    },
    longestResult,
  }
}
