// Everlong beside the client you already use: the official SDK sends what the session prepared. It talks to the simulator
// here, so it needs no key. Run it: node examples/src/any-client.ts
import Anthropic from '@anthropic-ai/sdk'
import { createSimulator, fixed } from '@everlong/simulator'
import { anthropic } from 'everlong/anthropic'
import { createEngine } from 'everlong/node'

export async function main(say: (line: string) => void = console.log): Promise<void> {
  const model = 'claude-sonnet-4-6'
  const answers = ['Entries become a view.', 'The only way a view changes.', 'Every edit, by another.']
  const { fetch } = createSimulator({ script: fixed(answers) })
  const client = new Anthropic({ apiKey: 'none', fetch })
  const engine = createEngine({ model: anthropic({ model, apiKey: 'none', fetch }) })
  const session = await engine.start({ system: 'You are brief.', maxTokens: 1_000 })
  for (const content of ['What is a fold?', 'And what is an edit?', 'Which of them can be undone?']) {
    session.add({ role: 'user', content })
    const request = await session.prepare()
    if (request.type === 'blocked') throw new Error(request.detail)
    const answer = await client.messages.create(request.body)
    session.record(answer)
    const { size, percentLeft } = session.explain()
    say(`${answer.usage.input_tokens} tokens in, ${size.tokens} in the context, ${percentLeft} % left`)
  }
  await session.close()
}

if (import.meta.main) await main()
