// A made-up SDK for tests: `system` first, texts, calls and results, and options that do not affect the conversation.
import { type Block, isToolResult, isToolUse, textOf } from '../../../core/message/message.ts'
import type { Converter } from '../converter.ts'

export type Plain = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly text?: string
  readonly calls?: readonly string[]
  readonly results?: readonly { readonly id: string; readonly text: string }[]
  readonly options?: string
}

export const plainConverter: Converter<Plain> = {
  isSystem: ({ role }) => role === 'system',
  read: ({ role, text, calls = [], results = [] }) => ({
    role: role === 'assistant' ? 'assistant' : 'user',
    content: [
      ...results.map(({ id, text: content }) => ({ type: 'tool_result', tool_use_id: id, content })),
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...calls.map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })),
    ],
  }),
  write: ({ role, content }) => {
    const blocks = content as readonly Block[]
    const results = blocks.filter(isToolResult).map((block) => ({ id: block.tool_use_id, text: textOf(block.content) }))
    const text = blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join('\n')
    const calls = blocks.filter(isToolUse).map(({ id }) => id)
    return [
      ...(results.length > 0 ? [{ role: 'tool', results } as const] : []),
      ...(text !== '' || calls.length > 0 ? [{ role, text, ...(calls.length > 0 ? { calls } : {}) } as const] : []),
    ]
  },
}
