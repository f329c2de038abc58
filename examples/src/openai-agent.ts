// An agent of the OpenAI Agents SDK that works through compactions: its model is wrapped, and its session stays small. The
// window is made small, so that it compacts soon.
import { Agent, MemorySession, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from '@openai/agents'
import { openai } from 'everlong/openai'
import { everlong } from 'everlong/openai-agents'
import OpenAI from 'openai'
import { z } from 'zod'

setTracingDisabled(true)
const model = 'gpt-5'
const managed = everlong({
  model: openai({ model }), // writes the summaries
  settings: { contextWindow: 36_000 },
})
const agent = new Agent({
  name: 'watcher',
  instructions: 'You watch over a server.',
  model: managed.wrapModel(new OpenAIChatCompletionsModel(new OpenAI(), model), model),
  tools: [
    tool({
      name: 'read_log',
      description: 'Reads the log of a day.',
      parameters: z.object({ day: z.number() }),
      execute: async ({ day }) => logOf(day),
    }),
  ],
})
const session = managed.wrapSession(new MemorySession()) // or any other session of the SDK
for (let day = 1; day <= 10; day++) {
  await run(agent, `Look at the log of day ${day}. Never restart the server.`, { session })
  console.log(`day ${day}: ${(await session.getItems()).length} items in the session`)
}
await managed.close()

function logOf(day: number): string {
  return Array.from({ length: 400 }, (_, at) => `day ${day}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join('\n')
}
