// An agent of LangChain that goes on through compactions: one line of middleware. It talks to the simulator here, so it needs
// no key. Run it: node examples/src/langchain-agent.ts
import { asksForSummary, route, startServer, summarizer, text, toolUse } from '@everlong/simulator'
import { ChatAnthropic } from '@langchain/anthropic'
import { MemorySaver } from '@langchain/langgraph'
import { everlong } from 'everlong/langchain'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'

const model = 'claude-sonnet-4-6'

export async function main(say: (line: string) => void = console.log): Promise<void> {
  const script = route([{ when: asksForSummary, script: summarizer() }], ({ messages }) =>
    JSON.stringify(messages.at(-1)).includes('tool_result')
      ? text('Nothing unusual.')
      : toolUse('read_log', { day: 1 }),
  )
  const server = await startServer({ script, windows: { [model]: 60_000 } })
  const readLog = tool(({ day }) => logOf(day), {
    name: 'read_log',
    description: 'Reads the log of a day.',
    schema: z.object({ day: z.number() }),
  })
  const agent = createAgent({
    model: new ChatAnthropic({ model, apiKey: 'none', anthropicApiUrl: server.url, maxTokens: 1_000 }),
    tools: [readLog],
    middleware: [everlong({ settings: { contextWindow: 60_000 } })],
    checkpointer: new MemorySaver(),
  })
  for (let day = 1; day <= 10; day++) {
    const messages = [{ role: 'user' as const, content: `Look at the log of day ${day}. Never restart the server.` }]
    const state = await agent.invoke({ messages }, { configurable: { thread_id: 'watch' } })
    say(`day ${day}: ${state.messages.length} messages in the state`)
  }
  await server.close()
}

function logOf(day: number): string {
  return Array.from({ length: 400 }, (_, at) => `day ${day} ${at}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join(
    '\n',
  )
}

if (import.meta.main) await main()
