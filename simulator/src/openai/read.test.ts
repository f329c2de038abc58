import { type ModelFacts, modelFacts } from 'everlong/internal'
import { expect, test } from 'vitest'
import { readChat } from './read.ts'

const facts = modelFacts('claude-opus-5') as ModelFacts

function read(body: object) {
  const chat = readChat({ model: 'gpt-large', ...body }, () => facts)
  if ('problem' in chat) throw new Error(JSON.stringify(chat.problem))
  return chat.request
}

const hello = { role: 'user', content: 'Hello' }

test('system and developer messages are instructions, wherever they are', () => {
  const { system, messages } = read({
    messages: [
      { role: 'developer', content: 'Follow the rules.' },
      hello,
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    ],
  })
  expect(system.map(({ text }) => text)).toEqual(['Follow the rules.', 'Be brief.'])
  expect(messages.map(({ role, content }) => [role, content])).toEqual([['user', [{ type: 'text', text: 'Hello' }]]])
})

test('max_completion_tokens comes before max_tokens, and without both the model has its own limit', () => {
  const limit = (fields: object) => read({ messages: [hello], ...fields }).maxTokens
  expect(limit({ max_completion_tokens: 3, max_tokens: 5 })).toBe(3)
  expect(limit({ max_tokens: 5 })).toBe(5)
  expect(limit({})).toBe(facts.maxOutput)
})

test('a call that nothing answers is a problem, also at the end', () => {
  const calls = ['c1', 'c2'].map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } }))
  const asking = { role: 'assistant', tool_calls: calls }
  const result = { role: 'tool', tool_call_id: 'c1', content: 'x' }
  const problemOf = (...messages: readonly object[]) =>
    JSON.stringify(readChat({ model: 'gpt-large', messages: [hello, ...messages] }, () => facts))
  expect(problemOf(asking, result)).toContain('did not have response messages: c2')
  expect(problemOf(asking, result, result)).toContain('must be a response to a preceeding message')
})

test('arguments that are no JSON reach the model as they are', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":' } }
  const { messages } = read({
    messages: [hello, { role: 'assistant', tool_calls: [call] }, { role: 'tool', tool_call_id: 'c1', content: 'x' }],
  })
  expect(messages[1]?.content).toMatchObject([{ type: 'tool_use', id: 'c1', input: { arguments: '{"path":' } }])
})
