import { expect, test } from 'vitest'
import { demoModel } from './demo-model.ts'

test('the demo model needs no key and no server, and answers again and again', async () => {
  const { words, name, client, close } = await demoModel(import.meta.dirname)
  const request = { source: 'turn', model: name, messages: [{ role: 'user', content: 'Hello' }] } as const
  expect([words, name, client.endpoint, close]).toEqual(['demo', 'claude-sonnet-4-6', 'http://127.0.0.1', undefined])
  const answers = [await client.send(request), await client.send(request)]
  expect(answers.map(({ type }) => type)).toEqual(['answer', 'answer'])
  // One simulator gives them: answers with one id would count as one.
  expect(new Set(answers.map((answer) => answer.type === 'answer' && answer.id)).size).toBe(2)
})
