// Tries the statements of docs/migrating.md about the built-in ways with the real packages.
import { asksForSummary, route, startServer, text } from '@everlong/simulator'
import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage } from '@langchain/core/messages'
import { pruneMessages } from 'ai'
import { everlong } from 'everlong/langchain'
import { type AgentMiddleware, createAgent, summarizationMiddleware } from 'langchain'
import { afterAll, expect, test } from 'vitest'

const name = 'claude-sonnet-4-6'
const server = await startServer({
  script: route([{ when: asksForSummary, script: () => text('A summary.') }], () => text('Done.')),
})
afterAll(() => server.close())

const model = new ChatAnthropic({ model: name, apiKey: 'none', anthropicApiUrl: server.url, maxTokens: 500 })
/** Nothing listens there. */
const broken = new ChatAnthropic({ model: name, apiKey: 'none', anthropicApiUrl: 'http://127.0.0.1:9', maxRetries: 0 })

const rule = 'Never drop the table orders_2019.'
const history = [rule, ...Array.from({ length: 29 }, (_, at) => `Step ${at}: ${'the log says nothing. '.repeat(400)}`)]

async function stateWith(middleware: AgentMiddleware): Promise<string> {
  const agent = createAgent({ model, tools: [], middleware: [middleware] })
  const first = await agent.invoke({ messages: history.map((content) => new HumanMessage(content)) })
  // The middleware knows the window from the first call on, so the state gets smaller before the second.
  const { messages } = await agent.invoke({ messages: [...first.messages, new HumanMessage('Go on.')] })
  return messages.map(({ text }) => text).join('\n')
}

test('summarizationMiddleware puts an error in place of the history when its model fails', async () => {
  // Its options do not compile with exactOptionalPropertyTypes.
  const builtIn = summarizationMiddleware({ model: broken, trigger: { tokens: 20_000 } } as never)
  const state = await stateWith(builtIn as AgentMiddleware)
  expect([state.includes('Error generating summary'), state.includes(rule)]).toEqual([true, false])
})

test('Everlong continues without the model, and keeps the rule', async () => {
  const state = await stateWith(everlong({ model: broken, settings: { contextWindow: 60_000 } }).middleware)
  expect([state.includes('Error generating summary'), state.includes(rule)]).toEqual([false, true])
  expect(state.length).toBeLessThan(history.join('\n').length / 2)
})

test('pruneMessages removes the call together with its result', () => {
  const pruned = pruneMessages({
    messages: [
      { role: 'user', content: 'Read a.ts.' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I read it.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'read_file', input: { path: 'a.ts' } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'read_file',
            output: { type: 'text', value: 'export {}' },
          },
        ],
      },
      { role: 'user', content: 'And b.ts.' },
    ],
    toolCalls: 'before-last-message',
  })
  expect(pruned).toEqual([
    { role: 'user', content: 'Read a.ts.' },
    { role: 'assistant', content: [{ type: 'text', text: 'I read it.' }] },
    { role: 'user', content: 'And b.ts.' },
  ])
})
