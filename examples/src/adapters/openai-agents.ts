// Agents on the OpenAI Agents SDK for the contract of adapters, over chat completions and the Responses API.
import {
  Agent,
  type AgentInputItem,
  MemorySession,
  OpenAIChatCompletionsModel,
  OpenAIResponsesCompactionSession,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import { openai } from 'everlong/openai'
import { everlong } from 'everlong/openai-agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { type Adapter, type AgentInput, type Said, storedLists } from './contract.ts'

type How = {
  readonly by: 'model' | 'filter' | 'compaction session'
  readonly api?: 'chat' | 'responses'
  readonly streams?: boolean
}

export const openaiAgentsAdapters: readonly Adapter[] = [
  { name: 'model', recovers: true, thinks: false, start: (input) => start(input, { by: 'model' }) },
  {
    name: 'model, Responses API',
    recovers: true,
    start: (input) => start(input, { by: 'model', api: 'responses' }),
  },
  {
    name: 'model, streaming',
    recovers: true,
    thinks: false,
    start: (input) => start(input, { by: 'model', streams: true }),
  },
  { name: 'input filter', thinks: false, abortsSummaries: false, start: (input) => start(input, { by: 'filter' }) },
]

/** The SDK's own way: the server compacts between turns, by default as soon as there are ten items. */
export const openaiAgentsBuiltIns: readonly Adapter[] = [
  {
    name: 'OpenAIResponsesCompactionSession',
    start: (input) => start(input, { by: 'compaction session', api: 'responses' }),
  },
]

async function start(input: AgentInput, { by, api = 'chat', streams = false }: How) {
  setTracingDisabled(true)
  const { url, model: name, settings, isManaged, system, read, storage } = input
  const baseURL = `${url}/v1`
  const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 5 })
  const modelOf = (called: string) =>
    api === 'chat' ? new OpenAIChatCompletionsModel(client, called) : new OpenAIResponsesModel(client, called)
  // Nothing is stored on the server: reasoning comes sealed and is sent back.
  const sealed = { store: false, providerData: { include: ['reasoning.encrypted_content'] } }
  const managed = everlong({
    model: openai({ model: name, apiKey: 'none', baseURL }),
    settings,
  })
  const reading = tool({
    name: 'read',
    description: 'Reads a part of a module.',
    parameters: z.object({ module: z.number(), part: z.number() }),
    execute: async (of) => read(of),
  })
  const modelSettings = api === 'chat' ? {} : { modelSettings: sealed }
  const isWrapped = isManaged && by === 'model'
  const agentOf = (called?: string) => {
    const model = modelOf(called ?? name)
    const wrapped = isWrapped ? managed.wrapModel(model, called) : model
    return new Agent({ name: 'engineer', instructions: system, model: wrapped, tools: [reading], ...modelSettings })
  }
  const agent = agentOf()
  const lists = storedLists<AgentInputItem>(storage)
  const stores = new Map<string, MemorySession>()
  const storeOf = (conversation: string) => {
    const store = stores.get(conversation) ?? new MemorySession({ initialItems: lists.of(conversation) })
    stores.set(conversation, store)
    return store
  }
  const { callModelInputFilter } = managed
  const compacting = new Map<MemorySession, OpenAIResponsesCompactionSession>()
  const sessionOn = (store: MemorySession) => {
    if (by !== 'compaction session') return managed.wrapSession(store)
    const session =
      compacting.get(store) ??
      new OpenAIResponsesCompactionSession({ client, underlyingSession: store, model: name, compactionMode: 'input' })
    compacting.set(store, session)
    return session
  }
  const optionsOf = (store: MemorySession, signal: AbortSignal | undefined) => ({
    session: isManaged ? sessionOn(store) : store,
    ...(isManaged && by === 'filter' ? { callModelInputFilter } : {}),
    ...(signal ? { signal } : {}),
  })
  return {
    say: async ({ text, image, conversation = 'one', model, signal }: Said) => {
      const called = model === undefined ? agent : agentOf(model)
      const options = optionsOf(storeOf(conversation), signal)
      const shown = image ? [{ type: 'input_image' as const, image: `data:image/png;base64,${image}` }] : []
      const content = [{ type: 'input_text' as const, text }, ...shown]
      const said = [{ role: 'user' as const, content }]
      if (!streams) return String((await run(called, said, options)).finalOutput ?? '')
      const result = await run(called, said, { ...options, stream: true })
      await result.completed
      return String(result.finalOutput ?? '')
    },
    sessions: managed.sessions,
    close: async () => {
      for (const [conversation, store] of stores) {
        lists.of(conversation).splice(0, Number.POSITIVE_INFINITY, ...(await store.getItems()))
      }
      lists.save()
      await managed.close()
    },
  }
}
