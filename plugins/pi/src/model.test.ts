import { expect, test } from 'vitest'
import { piModel } from './model.ts'
import { model, testContext, usage } from './testing/context.ts'

const request = { source: 'compact', model: 'any', messages: [{ role: 'user', content: 'Summarize.' }] } as const

test('what is spent is the sum of all calls', async () => {
  const { context } = testContext({ branch: [], answer: 'Done.' })
  const client = piModel({ context, model, signal: new AbortController().signal })
  expect(client.spent()).toBeUndefined()
  await client.send(request)
  expect(client.spent()).toEqual(usage)
  await client.send(request)
  await client.send(request)
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: expect.closeTo(0.03, 9) }
  expect(client.spent()).toEqual({ input: 30, output: 60, cacheRead: 0, cacheWrite: 0, totalTokens: 90, cost })
})

test.each([
  ['aborted', undefined, { reason: 'aborted' }],
  ['error', 'prompt is too long: 210000 tokens > 200000 maximum', { reason: 'overflow', overflow: { limit: 200_000 } }],
])('a call that ended with %s is a failure', async (stopReason, errorMessage, failure) => {
  const answer = { stopReason, ...(errorMessage === undefined ? {} : { errorMessage }) }
  const { context } = testContext({ branch: [], answer })
  const client = piModel({ context, model, signal: new AbortController().signal })
  expect(await client.send(request)).toMatchObject({ type: 'failed', ...failure })
})

test('without a cached prompt the conversation is one text, oldest first, and the last message comes after it', async () => {
  const { context, calls } = testContext({ branch: [], answer: 'Done.' })
  const client = piModel({ context, model, signal: new AbortController().signal })
  const said = (role: 'user' | 'assistant', content: string) => ({ role, content })
  const messages = [said('user', 'One.'), said('assistant', 'Two.'), said('user', 'Three.'), said('user', 'Summarize.')]
  await client.send({ ...request, system: 'Be brief.', messages, maxTokens: 9 })
  await client.send(request)
  const tags = (by: string, words: string) => `<said by="${by}">\n${words}\n</said>`
  const conversation = [tags('user', 'One.'), tags('assistant', 'Two.'), tags('user', 'Three.')].join('\n\n')
  expect(calls.map(({ context: sent }) => [sent.systemPrompt, sent.messages.map(({ content }) => content)])).toEqual([
    ['Be brief.', [[{ type: 'text', text: `<conversation>\n${conversation}\n</conversation>\n\nSummarize.` }]]],
    [undefined, [[{ type: 'text', text: 'Summarize.' }]]],
  ])
  expect(calls[0]?.options).toMatchObject({ maxTokens: 9, cacheRetention: 'none' })
})
