// Endless conversations with the official SDK: one line of middleware, and the tool runner goes on through compactions. It
// talks to the simulator here, so it needs no key. Run it: node examples/src/anthropic-tools.ts
import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { asksForSummary, createSimulator, route, summarizer, text, toolUse } from '@everlong/simulator'
import { everlong } from 'everlong/anthropic'
import { z } from 'zod'

const model = 'claude-sonnet-4-6'

export async function main(say: (line: string) => void = console.log): Promise<void> {
  const { fetch } = createSimulator({ script: watcher, windows: { [model]: 60_000 } })
  const client = new Anthropic({
    apiKey: 'none',
    fetch,
    middleware: [
      everlong({
        settings: { contextWindow: 60_000 },
        onEvent: (event) => {
          if (event.type === 'compaction-finished')
            say(`compacted: ${event.tokensBefore} → ${event.tokensAfter} tokens`)
        },
      }),
    ],
  })
  const readLog = betaZodTool({
    name: 'read_log',
    description: 'Reads the log of a day.',
    inputSchema: z.object({ day: z.number() }),
    run: ({ day }) =>
      Array.from({ length: 400 }, (_, at) => `day ${day} ${at}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join('\n'),
  })
  const runner = client.beta.messages.toolRunner({
    model,
    max_tokens: 1_000,
    tools: [readLog],
    messages: [{ role: 'user', content: 'Look at the logs of 12 days. Never restart the server.' }],
    thread: false, // the whole history goes with each request, where the middleware can see it
  })
  let replies = 0
  for await (const _ of runner) replies++
  say(`${replies} replies, ${runner.params.messages.length} messages in the runner`)
}

/** Reads one log after the other. */
let day = 0
const watcher = route([{ when: asksForSummary, script: summarizer() }], () =>
  ++day % 13 === 0 ? text('Nothing unusual.') : toolUse('read_log', { day: day % 13 }),
)

if (import.meta.main) await main()
