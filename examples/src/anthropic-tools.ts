// The tool runner of the official SDK works through compactions with one line of middleware. The window is made small, so
// that it compacts soon.
import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { everlong } from 'everlong/anthropic'
import { z } from 'zod'

const { middleware, close } = everlong({
  settings: { contextWindow: 36_000 },
  onEvent: (event) => {
    if (event.type !== 'compaction-finished') return
    console.log(`compacted: ${event.tokensBefore} → ${event.tokensAfter} tokens`)
  },
})
const client = new Anthropic({ middleware: [middleware] })
const readLog = betaZodTool({
  name: 'read_log',
  description: 'Reads the log of a day.',
  inputSchema: z.object({ day: z.number() }),
  run: ({ day }) =>
    Array.from({ length: 400 }, (_, at) => `day ${day}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join('\n'),
})
const runner = client.beta.messages.toolRunner({
  model: 'claude-sonnet-4-6',
  max_tokens: 1_000,
  tools: [readLog],
  messages: [{ role: 'user', content: 'Look at the logs of day 1 to day 12. Never restart the server.' }],
  thread: false, // the whole history goes with each request, where the middleware can see it
})
let replies = 0
for await (const _ of runner) replies++
console.log(`${replies} replies, ${runner.params.messages.length} messages in the runner`)
await close()
