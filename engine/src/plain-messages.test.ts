// Input of the functions without a session. They read nothing else.
import { HumanMessage } from '@langchain/core/messages'
import type { ModelMessage, UIMessage } from 'ai'
import type OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { compact } from './compact.ts'
import { countTokens } from './core/tokens/estimate/counting.ts'
import { microcompact } from './microcompact.ts'
import type { OpenAIMessage } from './plain-messages.ts'

const words = 'please look at the order parser '.repeat(30)
const modelMessages: ModelMessage[] = [
  { role: 'user', content: words },
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'Read', input: { file_path: '/a' } }],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: 'c', toolName: 'Read', output: { type: 'text', value: 'line of code' } },
    ],
  },
]

describe('messages of another kind', () => {
  test('are a type error where they cannot be read, and typed as anything they are not', () => {
    // biome-ignore lint/suspicious/noExplicitAny: hosts that parse JSON have this type
    const loose: any = [{ role: 'user', content: words }]
    expect(microcompact(loose).cleared).toBe(0)
    const chat: OpenAIMessage[] = [{ role: 'user', content: [{ type: 'text', text: words }] }]
    expect(microcompact(chat).messages).toEqual(chat)
    const uiMessages: UIMessage[] = []
    // @ts-expect-error A UI message has parts instead of content.
    expect(microcompact(uiMessages).cleared).toBe(0)
    const items: OpenAI.Responses.ResponseInputItem[] = []
    // @ts-expect-error Some items of the Responses API have no role.
    expect(microcompact(items).cleared).toBe(0)
  })

  test.each([
    ['useChat', { id: '1', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] }, /convertToModelMessages/],
    ['LangChain', new HumanMessage('Hi.'), /message 1 is a message of LangChain, and others are not/],
    ['the Responses API', { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }, /everlong\/openai/],
    ['the Responses API, a message', { role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }, /Responses API/],
  ])('of %s are refused with what to use instead', async (_, message, hint) => {
    const given = [{ role: 'user', content: 'Hello.' }, message] as never
    await expect(compact(given)).rejects.toThrow(hint)
    expect(() => microcompact(given)).toThrow(hint)
  })

  test.each([
    ['the Messages API', { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'Read', input: {} }] }],
    ['chat completions', { role: 'tool', tool_call_id: 'c', content: 'Hi.' }],
    ['nobody', { role: 'tool' }],
  ])('of %s are refused among those of the AI SDK: calls would lose their results', async (_, message) => {
    const given = [...modelMessages, message] as never
    const hint = /message 3 is not a message of the AI SDK, and others are/
    await expect(compact(given)).rejects.toThrow(hint)
    expect(() => microcompact(given)).toThrow(hint)
  })
})

describe('where the environment must not be read', () => {
  const { env } = process
  afterEach(() => {
    process.env = env
  })

  test('the functions without a session do not', async () => {
    const messages = Array.from({ length: 12 }, (_, at) => ({
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `${at} ${words}`,
    }))
    process.env = new Proxy(env, {
      get: (_, name) => {
        throw new Error(`NotCapable: requires env access to ${String(name)}`)
      },
      has: () => {
        throw new Error('NotCapable')
      },
    })
    const [small, large] = [microcompact([{ role: 'user', content: 'x' }]), countTokens(messages)]
    const compacted = await compact(messages, { keep: 2 })
    process.env = env
    expect([small.cleared, large > 0, compacted.type]).toEqual([0, true, 'compacted'])
  })
})
