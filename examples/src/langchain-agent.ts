// A LangChain agent that works through compactions with one line of middleware. The window is made small, so that it
// compacts soon.
import { ChatAnthropic } from '@langchain/anthropic'
import { MemorySaver } from '@langchain/langgraph'
import { everlong } from 'everlong/langchain'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'

const readLog = tool(({ day }) => logOf(day), {
  name: 'read_log',
  description: 'Reads the log of a day.',
  schema: z.object({ day: z.number() }),
})
const { middleware, close } = everlong({ settings: { contextWindow: 36_000 } })
const agent = createAgent({
  model: new ChatAnthropic({ model: 'claude-sonnet-4-6', maxTokens: 1_000 }),
  tools: [readLog],
  middleware: [middleware],
  checkpointer: new MemorySaver(),
})
for (let day = 1; day <= 10; day++) {
  const messages = [{ role: 'user' as const, content: `Look at the log of day ${day}. Never restart the server.` }]
  const state = await agent.invoke({ messages }, { configurable: { thread_id: 'watch' } })
  console.log(`day ${day}: ${state.messages.length} messages in the state`)
}
await close()

function logOf(day: number): string {
  return Array.from({ length: 400 }, (_, at) => `day ${day}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join('\n')
}
