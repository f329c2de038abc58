// A conversation without tools: the session prepares each request, the client you already have sends it.
import Anthropic from '@anthropic-ai/sdk'
import { anthropic } from 'everlong/anthropic'
import { createEngine } from 'everlong/node'

const model = 'claude-sonnet-4-6'
const client = new Anthropic()
const engine = createEngine({ model: anthropic({ model }) })
const session = await engine.start({ system: 'You are brief.', maxTokens: 1_000 })
for (const content of ['What is a fold?', 'And what is an edit?', 'Which of them can be undone?']) {
  session.add({ role: 'user', content })
  const request = await session.prepare()
  if (request.type === 'blocked') throw new Error(request.why)
  const answer = await client.messages.create(request.body)
  session.record(answer)
  const { size, percentLeft } = session.explain()
  console.log(`${answer.usage.input_tokens} tokens in, ${size.tokens} in the context, ${percentLeft} % left`)
}
await session.close()
