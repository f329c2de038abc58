// Messages of the Messages API already have our shape. Marks for the prompt cache are ignored in comparisons, and a caller
// without marks gets ours.

import { isObject, type JsonObject } from '../../core/message/json.ts'
import { type Block, blocksOf, isToolResult } from '../../core/message/message.ts'
import type { Converted, Converter } from '../history/converter.ts'

/** A message of the API, in any SDK's types. Some clients send system messages in the middle. */
export type MessageParam = { readonly role: string; readonly content: string | readonly object[] }

export type MessageConversion = {
  readonly converter: Converter<MessageParam>
  /** Removes the mark that the converter set. */
  readonly unmarked: (message: MessageParam) => MessageParam
}

export function messageConversion(): MessageConversion {
  const originals = new WeakMap<MessageParam, MessageParam>()
  return {
    converter: {
      isSystem: () => false,
      read: readMessage,
      write: ({ role, content }) => [{ role, content: blocksOf(content) }],
      withMark: (message, mark) => {
        const marked = withMark(message, mark)
        originals.set(marked, message)
        return marked
      },
    },
    unmarked: (message) => originals.get(message) ?? message,
  }
}

function readMessage({ role, content }: MessageParam): Converted {
  const blocks = blocksOf(content).map(bareBlock)
  if (role === 'assistant') return { role, content: blocks }
  return { role: 'user', content: blocks, ...(role === 'user' ? {} : { origin: 'meta' as const }) }
}

function bareBlock(block: Block): Block {
  const { cache_control: mark, ...rest } = block
  const bare = mark === undefined ? block : { ...rest, type: block.type }
  if (!isToolResult(bare) || typeof bare.content === 'string' || !hasMark(bare.content)) return bare
  return { ...bare, content: blocksOf(bare.content).map(bareBlock) }
}

/** Puts the mark on the last block that can have one. */
function withMark(message: MessageParam, mark: unknown): MessageParam {
  const blocks = blocksOf(message.content)
  const at = blocks.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
  return {
    ...message,
    content: blocks.map((block, index) => (index === at ? { ...block, cache_control: mark } : block)),
  }
}

/** True if the caller manages the cache: any mark in the request, or the automatic one. */
export function hasMark(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasMark)
  if (!isObject(value)) return false
  return isObject(value.cache_control) || hasMark(value.content)
}

export function marksItself({ cache_control, system, tools, messages }: JsonObject): boolean {
  return isObject(cache_control) || [system, tools, messages].some(hasMark)
}
