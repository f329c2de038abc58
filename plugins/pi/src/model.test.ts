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
