// The OpenAI Agents SDK over chat completions: its compaction session with the summary of the case in place of the server's
// encrypted one, and our managed model.
import {
  type AgentInputItem,
  MemorySession,
  type Model,
  OpenAIChatCompletionsModel,
  OpenAIResponsesCompactionSession,
  setTracingDisabled,
  withTrace,
} from '@openai/agents'
import type { Message } from 'everlong'
import { openai } from 'everlong/openai'
import { everlong } from 'everlong/openai-agents'
import OpenAI from 'openai'
import { agentText, toAgentItems } from '../peers/openai-agents.ts'
import { type Contender, oursBy, type Sdk } from './contender.ts'
import type { World } from './world.ts'

function clientOf({ url, fetch }: World): OpenAI {
  setTracingDisabled(true)
  return new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, fetch, maxRetries: 0 })
}

const modelOf = (world: World) => new OpenAIChatCompletionsModel(clientOf(world), world.model)

const sending =
  ({ system }: World, model: Model) =>
  (input: readonly AgentInputItem[]) =>
    // A model of this SDK only answers within a trace.
    withTrace('bench', () =>
      model.getResponse({
        systemInstructions: system,
        input: [...input],
        modelSettings: {},
        tools: [],
        outputType: 'text',
        handoffs: [],
        tracing: false,
      }),
    )

const plain = (world: World) => {
  const send = sending(world, modelOf(world))
  return async (messages: readonly Message[]) => void (await send(toAgentItems(messages)))
}

type Send = ReturnType<typeof sending>

/** It compacts between the user's turns: here once, at the end of the history. All further steps belong to one turn. */
const compacting: Contender = {
  name: 'OpenAIResponsesCompactionSession, its rule',
  isOurs: false,
  start: ({ world, history }) => {
    const send = sending(world, modelOf(world))
    const store = new MemorySession()
    const client = compactClient(world, store, send)
    const session = new OpenAIResponsesCompactionSession({ client, underlyingSession: store, model: 'gpt-5' })
    let messages = 0
    return async (added) => {
      await session.addItems([...toAgentItems(added)])
      messages += added.length
      if (messages === history.length) await session.runCompaction()
      await send((await store.getItems()).map(readable))
    }
  },
}

const userText = (text: string): AgentInputItem => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})

/** The documented result of the endpoint: the user's messages, and one item with everything else. */
function compactClient(world: World, store: MemorySession, send: Send): OpenAI {
  const compact = async () => {
    const items = await store.getItems()
    const { output } = await world.asking(() => send([...items, userText('Compact the conversation.')]))
    const typed = items.filter((item) => 'role' in item && item.role === 'user')
    return { output: [...typed, { type: 'compaction', encrypted_content: agentText(output) }] }
  }
  return { responses: { compact } } as unknown as OpenAI
}

/** The server can read its own item; here it is the summary itself. */
function readable(item: AgentInputItem): AgentInputItem {
  return item.type === 'compaction' ? userText(String(item.encrypted_content)) : item
}

/** With a model only: a session of this adapter counts like the model that writes its summaries. */
const [ours] = oursBy('model', ({ world }, options) => {
  const managed = everlong({
    model: openai({ model: world.model, client: clientOf(world) }),
    ...options,
    sessionId: 'one',
  })
  const send = sending(world, managed.wrapModel(modelOf(world)))
  let list: readonly AgentInputItem[] = []
  return async (added) => {
    list = [...list, ...toAgentItems(added)]
    await send(list)
  }
})

export const openaiAgents: Sdk = { name: 'OpenAI Agents', plain, contenders: [compacting, ours] }
