// An endless chat with a tool on the AI SDK: wrapping the model is enough. The window is small, so that it compacts soon.
import { anthropic } from '@ai-sdk/anthropic'
import { generateText, type ModelMessage, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { everlong } from 'everlong/ai-sdk'
import { z } from 'zod'

const { middleware, close } = everlong({
  settings: { contextWindow: 60_000 },
  onEvent: (event) => {
    if (event.type !== 'compaction-finished') return
    console.log(`compacted: ${event.tokensBefore} → ${event.tokensAfter} tokens`)
  },
})
const model = wrapLanguageModel({ model: anthropic('claude-sonnet-4-6'), middleware })
const tools = {
  read_log: tool({
    description: 'Reads the log of a day.',
    inputSchema: z.object({ day: z.number() }),
    execute: async ({ day }) => logOf(day),
  }),
}

const messages: ModelMessage[] = []
for (let day = 1; day <= 8; day++) {
  messages.push({ role: 'user', content: `Look at the log of day ${day}. Never restart the server.` })
  const answer = await generateText({ model, messages, tools, stopWhen: stepCountIs(5) })
  messages.push(...answer.responseMessages)
  console.log(`day ${day}: ${answer.text} ${answer.finalStep.usage.inputTokens} tokens in, ${messages.length} messages`)
}
await close()

function logOf(day: number): string {
  return Array.from({ length: 400 }, (_, at) => `day ${day}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join('\n')
}
