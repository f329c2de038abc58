// Agents on LangChain for the contract of adapters: with the middleware, and with the context edit.
import { ChatAnthropic } from '@langchain/anthropic'
import { MemorySaver } from '@langchain/langgraph'
import { everlong, type LangChain } from 'everlong/langchain'
import {
  type AgentMiddleware,
  anthropicPromptCachingMiddleware,
  ClearToolUsesEdit,
  contextEditingMiddleware,
  createAgent,
  summarizationMiddleware,
  tool,
} from 'langchain'
import { z } from 'zod'
import type { Adapter, AgentInput, Said } from './contract.ts'

export const langChainAdapters: readonly Adapter[] = [
  { name: 'middleware', recovers: true, start: (input) => start(input, ({ middleware }) => middleware) },
  {
    name: 'context edit',
    abortsSummaries: false,
    start: (input) => start(input, ({ edit }) => contextEditingMiddleware({ edits: [edit] })),
  },
]

/** LangChain's own middlewares, from 40,000 and 20,000 tokens. By default it summarizes only the newest 4,000 tokens. */
export const langChainBuiltIns: readonly Adapter[] = [40_000, 20_000].flatMap((tokens) => [
  builtIn(`summarizationMiddleware at ${tokens.toLocaleString('en')}`, (model) =>
    summarizationMiddleware({ model, trigger: { tokens }, keep: { messages: 20 } } as never),
  ),
  builtIn(`summarizationMiddleware at ${tokens.toLocaleString('en')}, reading all`, (model) =>
    summarizationMiddleware({
      model,
      trigger: { tokens },
      keep: { messages: 20 },
      trimTokensToSummarize: 2 * tokens,
    } as never),
  ),
  builtIn(`contextEditingMiddleware at ${tokens.toLocaleString('en')}`, () =>
    contextEditingMiddleware({ edits: [new ClearToolUsesEdit({ trigger: { tokens }, keep: { messages: 3 } })] }),
  ),
])

function builtIn(name: string, make: (model: ChatAnthropic) => unknown): Adapter {
  return { name, start: (input) => start(input, (_, model) => make(model) as AgentMiddleware) }
}

type Managing = (managed: LangChain, model: ChatAnthropic) => AgentMiddleware

async function start(input: AgentInput, managing: Managing) {
  const { url, model: name, settings, isManaged, system, read, storage } = input
  const modelOf = (called: string) =>
    new ChatAnthropic({ model: called, apiKey: 'none', anthropicApiUrl: url, maxTokens: 4_000, maxRetries: 5 })
  const reading = tool((of: { readonly module: number; readonly part: number }) => read(of), {
    name: 'read',
    description: 'Reads a part of a module.',
    schema: z.object({ module: z.number(), part: z.number() }),
  })
  // Its schema is of an older Zod than these strict types accept.
  const caching = anthropicPromptCachingMiddleware() as AgentMiddleware
  const managed = everlong({ settings })
  const own = isManaged ? [managing(managed, modelOf(name))] : []
  const middleware: AgentMiddleware[] = [...own, caching]
  // Stands for one in a database: it stores messages in serialized form.
  const checkpointer = (storage.get('checkpointer') as MemorySaver | undefined) ?? new MemorySaver()
  storage.set('checkpointer', checkpointer)
  const agentOf = (called: string) =>
    createAgent({ model: modelOf(called), tools: [reading], systemPrompt: system, middleware, checkpointer })
  const agent = agentOf(name)
  return {
    say: async ({ text, image, conversation = 'one', model, signal }: Said) => {
      const own = signal ? { signal } : {}
      const config = { configurable: { thread_id: conversation }, recursionLimit: 50, ...own }
      const shown = image ? [{ type: 'image', data: image, mimeType: 'image/png' }] : []
      const content = [{ type: 'text', text }, ...shown]
      const called = model === undefined ? agent : agentOf(model)
      const { messages } = await called.invoke({ messages: [{ role: 'user', content }] } as never, config)
      return messages.at(-1)?.text ?? ''
    },
    sessions: managed.sessions,
    close: managed.close,
  }
}
