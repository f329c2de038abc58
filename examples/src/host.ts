// A small chat host with one tool, in a window so small that it has to compact. The program of docs/getting-started.md,
// with the simulator in place of the API. Run it: node examples/src/host.ts
import Anthropic from '@anthropic-ai/sdk'
import { asksForSummary, createSimulator, route, summarizer, text, toolUse } from '@everlong/simulator'
import { anthropic } from 'everlong/anthropic'
import { createEngine } from 'everlong/node'

const model = 'claude-sonnet-4-6'
const tools: Anthropic.Tool[] = [
  { name: 'read_log', description: 'Reads the log of a day.', input_schema: { type: 'object' } },
]

export async function main(say: (line: string) => void = console.log): Promise<void> {
  const reply = route([{ when: asksForSummary, script: summarizer() }], ({ messages }) =>
    JSON.stringify(messages.at(-1)).includes('tool_result') ? text('Nothing unusual.') : toolUse('read_log', {}),
  )
  const { fetch } = createSimulator({ script: reply, windows: { [model]: 60_000 } })
  const client = new Anthropic({ apiKey: 'none', fetch })
  const engine = createEngine({
    model: anthropic({ model, apiKey: 'none', fetch }),
    settings: { contextWindow: 60_000 },
  })
  const session = await engine.start({ system: 'You watch over a server.', maxTokens: 1_000, tools })
  session.on((event) => {
    if (event.type === 'compaction-finished') say(`compacted: ${event.tokensBefore} → ${event.tokensAfter} tokens`)
  })
  for (let day = 1; day <= 8; day++) {
    session.add({ role: 'user', content: `Look at the log of day ${day}. Never restart the server.` })
    for (let isDone = false; !isDone; ) {
      const request = await session.prepare()
      if (request.type === 'blocked') throw new Error(request.detail)
      const answer = await client.messages.create(request.body)
      session.record(answer)
      const calls = answer.content.filter((block) => block.type === 'tool_use')
      const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: logOf(day) }))
      if (results.length > 0) session.add({ role: 'user', content: results })
      isDone = results.length === 0
    }
    say(`day ${day}: ${session.explain().percentLeft} % left`)
  }
  await session.close()
}

function logOf(day: number): string {
  return Array.from({ length: 400 }, (_, at) => `day ${day} ${at}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join(
    '\n',
  )
}

if (import.meta.main) await main()
