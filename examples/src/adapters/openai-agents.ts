// Agents on the OpenAI Agents SDK for the contract of adapters, over chat completions.
import { Agent, MemorySession, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from '@openai/agents'
import { openai } from 'everlong/openai'
import { everlong } from 'everlong/openai-agents'
import OpenAI from 'openai'
import { z } from 'zod'
import type { Adapter, AgentInput, Said } from './contract.ts'

type How = { readonly by: 'model' | 'filter'; readonly streams: boolean }

export const openaiAgentsAdapters: readonly Adapter[] = [
  {
    name: 'model',
    recovers: true,
    thinks: false,
    start: (input) => start(input, { by: 'model', streams: false }),
  },
  {
    name: 'model, streaming',
    recovers: true,
    thinks: false,
    start: (input) => start(input, { by: 'model', streams: true }),
  },
  {
    name: 'input filter',
    thinks: false,
    start: (input) => start(input, { by: 'filter', streams: false }),
  },
]

async function start({ url, model: name, window, isManaged, system, read }: AgentInput, { by, streams }: How) {
  setTracingDisabled(true)
  const baseURL = `${url}/v1`
  const model = new OpenAIChatCompletionsModel(new OpenAI({ apiKey: 'none', baseURL, maxRetries: 5 }), name)
  const managed = everlong({
    model: openai({ model: name, apiKey: 'none', baseURL }),
    settings: { contextWindow: window },
  })
  const reading = tool({
    name: 'read',
    description: 'Reads a part of a module.',
    parameters: z.object({ module: z.number(), part: z.number() }),
    execute: async (of) => read(of),
  })
  const wrapped = isManaged && by === 'model' ? managed.model(model) : model
  const agent = new Agent({ name: 'engineer', instructions: system, model: wrapped, tools: [reading] })
  const store = new MemorySession()
  const { callModelInputFilter } = managed
  const options = {
    session: isManaged ? managed.session(store) : store,
    ...(isManaged && by === 'filter' ? { callModelInputFilter } : {}),
  }
  return {
    say: async ({ text, image }: Said) => {
      const shown = image ? [{ type: 'input_image' as const, image: `data:image/png;base64,${image}` }] : []
      const content = [{ type: 'input_text' as const, text }, ...shown]
      const input = [{ role: 'user' as const, content }]
      if (!streams) return String((await run(agent, input, options)).finalOutput ?? '')
      const result = await run(agent, input, { ...options, stream: true })
      await result.completed
      return String(result.finalOutput ?? '')
    },
    close: managed.close,
  }
}
