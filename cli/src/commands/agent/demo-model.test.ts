import { expect, test } from 'vitest'
import { demoModel } from './demo-model.ts'

test('the demo model needs no key, and answers on this machine until it is closed', async () => {
  const { words, name, client, close } = await demoModel(import.meta.dirname)
  const request = { source: 'turn', model: name, messages: [{ role: 'user', content: 'Hello' }] } as const
  expect([words, name, client.endpoint]).toEqual([
    'demo',
    'claude-sonnet-4-6',
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  ])
  expect(await client.send(request)).toMatchObject({ type: 'answer' })
  await close?.()
})
