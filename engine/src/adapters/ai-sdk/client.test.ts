import { expect, test } from 'vitest'
import { runModelContract } from '../../models/contract.ts'
import { languageModelClient } from './client.ts'
import { aiSdkConverter } from './messages.ts'
import { fakeModel, tooLong } from './testing/fake-model.ts'

const converter = aiSdkConverter('tagged')
const request = {
  source: 'compact',
  model: 'fake-1',
  system: 'You summarize.',
  maxTokens: 500,
  messages: [{ role: 'user', content: 'Summarize.' }],
} as const

test('a language model of the AI SDK keeps the contract of model clients', async () => {
  const client = languageModelClient(
    fakeModel(() => 'A summary.'),
    { converter },
  )
  const failing = languageModelClient(fakeModel(tooLong), { converter })
  const report = await runModelContract({
    client,
    request,
    failing: [{ client: failing, request, reason: 'overflow' }],
  })
  expect(report.broken).toEqual([])
})

test('a request of its own carries the system prompt, the messages and the limit', async () => {
  const model = fakeModel(() => 'A summary.')
  await languageModelClient(model, { converter }).send(request)
  const { abortSignal: _, ...call } = model.calls[0] ?? {}
  expect(call).toEqual({
    prompt: [
      { role: 'system', content: 'You summarize.' },
      { role: 'user', content: [{ type: 'text', text: 'Summarize.' }] },
    ],
    maxOutputTokens: 500,
  })
})

test('a request that continues the conversation is made like its calls, streaming if they do', async () => {
  const model = fakeModel(() => 'A summary.')
  const own = {
    params: { tools: ['t'], temperature: 0.5 },
    isStreaming: true,
    head: [{ role: 'system', content: 'Be brief.' } as const],
    toForeign: () => [{ role: 'user', content: 'the very message' } as const],
  }
  const client = languageModelClient(model, { converter, ownCall: () => own })
  const answer = await client.send({ ...request, system: 'Be brief.' })
  expect(answer).toMatchObject({
    type: 'answer',
    content: [{ type: 'text', text: 'A summary.' }],
    usage: { input: 700 },
  })
  const { abortSignal: _, ...call } = model.calls[0] ?? {}
  expect(call).toEqual({ ...own.params, prompt: [own.head[0], { role: 'user', content: 'the very message' }] })
})

test('a request of its own takes the headers of the conversation’s calls, and nothing else of them', async () => {
  const model = fakeModel(() => 'A summary.')
  const headers = { 'x-gateway-key': 'k' }
  const own = {
    params: { tools: ['t'], temperature: 0.5, headers },
    isStreaming: true,
    head: [{ role: 'system', content: 'Be brief.' } as const],
    toForeign: () => [],
  }
  await languageModelClient(model, { converter, ownCall: () => own }).send(request)
  const { abortSignal: _, prompt, ...call } = model.calls[0] ?? {}
  expect(prompt).toContainEqual({ role: 'system', content: 'You summarize.' })
  expect(call).toEqual({ maxOutputTokens: 500, headers })
})
