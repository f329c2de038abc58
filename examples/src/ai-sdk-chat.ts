// An endless chat with a tool on the AI SDK: wrapping the model is all there is to it. The simulator plays the API, in a
// window so small that the conversation has to be compacted. Run it: node examples/src/ai-sdk-chat.ts
import { createAnthropic } from '@ai-sdk/anthropic'
import { asksForSummary, route, startServer, summarizer, text, toolUse } from '@everlong/simulator'
import { generateText, type ModelMessage, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { everlong } from 'everlong/ai-sdk'
import { z } from 'zod'

const name = 'claude-sonnet-4-6'
const tools = {
  read_log: tool({
    description: 'Reads the log of a day.',
    inputSchema: z.object({ day: z.number() }),
    execute: async ({ day }) => logOf(day),
  }),
}

export async function main(say: (line: string) => void = console.log): Promise<void> {
  const reply = route([{ when: asksForSummary, script: summarizer() }], ({ messages }) => {
    const last = JSON.stringify(messages.at(-1))
    const day = Number(/log of day (\d+)/.exec(last)?.[1])
    return last.includes('tool_result') ? text('Nothing unusual.') : toolUse('read_log', { day })
  })
  const server = await startServer({ script: reply, windows: { [name]: 60_000 } })
  const anthropic = createAnthropic({ apiKey: 'none', baseURL: `${server.url}/v1` })

  const { middleware, close } = everlong({
    settings: { contextWindow: 60_000 },
    onEvent: (event) => {
      if (event.type === 'compaction-finished') say(`compacted: ${event.tokensBefore} → ${event.tokensAfter} tokens`)
    },
  })
  const model = wrapLanguageModel({ model: anthropic(name), middleware })
  const messages: ModelMessage[] = []
  for (let day = 1; day <= 8; day++) {
    messages.push({ role: 'user', content: `Look at the log of day ${day}. Never restart the server.` })
    const answer = await generateText({ model, messages, tools, stopWhen: stepCountIs(5) })
    messages.push(...answer.responseMessages)
    say(`day ${day}: ${answer.text} ${answer.finalStep.usage.inputTokens} tokens in, ${messages.length} messages`)
  }
  await close()
  await server.close()
}

function logOf(day: number): string {
  return Array.from({ length: 400 }, (_, at) => `day ${day} ${at}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join(
    '\n',
  )
}

if (import.meta.main) await main()
