import { expect, test } from 'vitest'
import { type AgentsModel, managedModel } from './model.ts'

test('calls whose history is on the server pass untouched', async () => {
  const asked: unknown[] = []
  const inner = {
    getResponse: async (request: unknown) => {
      asked.push(request)
      return {}
    },
    getStreamedResponse: async function* (request: unknown) {
      asked.push(request)
      yield { type: 'response_started' }
    },
  } as unknown as AgentsModel
  const conversation = () => {
    throw new Error('The history is not here.')
  }
  const model = managedModel(inner, { conversation, name: 'any' } as never)
  const input = [{ role: 'user', content: 'Hello.' }]
  for (const server of [{ previousResponseId: 'resp_1' }, { conversationId: 'conv_1' }]) {
    const request = { input, modelSettings: {}, tools: [], ...server } as never
    await model.getResponse(request)
    for await (const _ of model.getStreamedResponse(request));
    expect(asked.splice(0)).toEqual([request, request])
  }
  const own = { input, modelSettings: {}, tools: [] } as never
  await expect(model.getResponse(own)).rejects.toThrow('The history is not here.')
})
