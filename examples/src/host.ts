// A chat host of your own with one tool, on the official SDK: the program of docs/getting-started.md. The window is made
// small, so that it compacts soon.
import Anthropic from '@anthropic-ai/sdk'
import { anthropic } from 'everlong/anthropic'
import { createEngine } from 'everlong/node'

const model = 'claude-sonnet-4-6'
const tools: Anthropic.Tool[] = [
  { name: 'read_log', description: 'Reads the log of a day.', input_schema: { type: 'object' } },
]
const client = new Anthropic()
const engine = createEngine({ model: anthropic({ model }), settings: { contextWindow: 60_000 } })
const session = await engine.start({ system: 'You watch over a server.', maxTokens: 1_000, tools })
session.on((event) => {
  if (event.type !== 'compaction-finished') return
  console.log(`compacted: ${event.tokensBefore} → ${event.tokensAfter} tokens`)
})

for (let day = 1; day <= 8; day++) {
  session.add({ role: 'user', content: `Look at the log of day ${day}. Never restart the server.` })
  for (;;) {
    const request = await session.prepare()
    if (request.type === 'blocked') throw new Error(request.why)
    const answer = await client.messages.create(request.body)
    session.record(answer)
    const calls = answer.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) break
    const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: logOf(day) }))
    session.add({ role: 'user', content: results })
  }
  console.log(`day ${day}: ${session.explain().percentLeft} % left`)
}
await session.close()

function logOf(day: number): string {
  return Array.from({ length: 400 }, (_, at) => `day ${day}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join('\n')
}
