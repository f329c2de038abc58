// What the functions without a session accept, and what they read: nothing but what they are given.
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import type { ModelMessage } from 'ai'
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

describe('messages of another SDK', () => {
  test('of the AI SDK are a type error, and typed as anything they are not', async () => {
    // @ts-expect-error
    await expect(compact(modelMessages, { keep: 1 })).rejects.toThrow(TypeError)
    // @ts-expect-error
    expect(() => microcompact(modelMessages)).toThrow(TypeError)
    // biome-ignore lint/suspicious/noExplicitAny: hosts that parse JSON have this type
    const loose: any = [{ role: 'user', content: words }]
    expect(microcompact(loose).cleared).toBe(0)
    const chat: OpenAIMessage[] = [{ role: 'user', content: [{ type: 'text', text: words }] }]
    expect(microcompact(chat).messages).toEqual(chat)
  })

  test.each([
    ['the AI SDK, a call', modelMessages[1], /message 1 is a message of the AI SDK.* everlong\/ai-sdk/],
    ['the AI SDK, a result', modelMessages[2], /message 1 is a message of the AI SDK/],
    ['useChat', { id: '1', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] }, /convertToModelMessages/],
    ['LangChain', new HumanMessage('Hi.'), /a message of LangChain.* everlong\/langchain/],
    ['LangChain, an answer', new AIMessage('Hi.'), /a message of LangChain/],
    ['LangChain, a result', new ToolMessage({ content: 'Hi.', tool_call_id: 'c' }), /a message of LangChain/],
    [
      'the Responses API',
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
      /manageResponses\(\)/,
    ],
    [
      'the Responses API, a message',
      { role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
      /manageResponses/,
    ],
  ])('of %s are refused with what to use instead', async (_, message, hint) => {
    const given = [{ role: 'user', content: 'Hello.' }, message] as never
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
