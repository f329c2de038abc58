// LangChain's two middlewares, their own code run over messages in LangChain's shape and back. What they leave alone comes
// back as the very blocks it was.
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import {
  type Block,
  blocksOf,
  isText,
  isToolResult,
  isToolUse,
  type JsonObject,
  type Message,
  repairRequest,
  textOf,
} from 'everlong'
import { ClearToolUsesEdit, countTokensApproximately, summarizationMiddleware } from 'langchain'
import { byList } from '../by-list.ts'
import { thresholdOf } from '../setup.ts'
import type { Port, Strategy } from '../strategy.ts'

/** What a message of LangChain's stands for. */
type Origins = Map<string, readonly Block[]>

function toLangChain(messages: readonly Message[]): { readonly list: BaseMessage[]; readonly origins: Origins } {
  const origins: Origins = new Map()
  const list: BaseMessage[] = []
  const add = (make: (id: string) => BaseMessage, blocks: readonly Block[]) => {
    const id = `m${list.length}`
    origins.set(id, blocks)
    list.push(make(id))
  }
  for (const { role, content } of messages) {
    const blocks = blocksOf(content)
    if (role === 'assistant') {
      const calls = blocks.filter(isToolUse).map(({ id, name, input }) => ({ id, name, args: input as JsonObject }))
      add((id) => new AIMessage({ id, content: textOf(blocks.filter(isText)), tool_calls: calls }), blocks)
      continue
    }
    for (const block of blocks.filter(isToolResult)) {
      add((id) => new ToolMessage({ id, tool_call_id: block.tool_use_id, content: textOf(block.content) }), [block])
    }
    const rest = blocks.filter((block) => !isToolResult(block))
    if (rest.length > 0) add((id) => new HumanMessage({ id, content: textOf(rest) }), rest)
  }
  return { list, origins }
}

function fromLangChain(list: readonly BaseMessage[], origins: Origins): readonly Message[] {
  const messages = list.map((message): Message => {
    const blocks = message.id === undefined ? undefined : origins.get(message.id)
    if (blocks) return { role: AIMessage.isInstance(message) ? 'assistant' : 'user', content: blocks }
    const text = String(message.content)
    if (ToolMessage.isInstance(message)) {
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: message.tool_call_id, content: text }] }
    }
    return { role: 'user', content: [{ type: 'text', text }] }
  })
  // The provider's package merges neighbours of one role; this does the same.
  return repairRequest(messages).messages
}

const mostSummary = 4_096

/** The model that writes the summaries: asked by itself, paid like the others. */
function modelOf(port: Port) {
  return {
    invoke: async (prompt: unknown) => {
      const text = typeof prompt === 'string' ? prompt : JSON.stringify(prompt)
      const messages: readonly Message[] = [{ role: 'user', content: [{ type: 'text', text }] }]
      const answer = await port.ask({ alone: true, messages, maxTokens: mostSummary })
      return new AIMessage(textOf((answer?.content ?? []) as readonly Block[]))
    },
  }
}

function summarising(name: string, trigger: (port: Port) => number): Strategy {
  return byList({
    name,
    who: 'LangChain',
    keep: async (messages, { port }) => {
      const options = { model: modelOf(port), trigger: { tokens: trigger(port) } }
      const { beforeModel } = summarizationMiddleware(options as never)
      const hook = (typeof beforeModel === 'function' ? beforeModel : beforeModel?.hook) as unknown as Hook
      const { list, origins } = toLangChain(messages)
      const update = await hook({ messages: list }, { context: {} })
      if (!update?.messages) return messages
      port.note('compaction')
      return fromLangChain(
        update.messages.filter((message) => message.getType() !== 'remove'),
        origins,
      )
    },
  })
}

type Hook = (
  state: { readonly messages: BaseMessage[] },
  runtime: { readonly context: object },
) => Promise<{ readonly messages?: readonly BaseMessage[] } | undefined>

export const langchain: readonly Strategy[] = [
  summarising('summarizationMiddleware at the threshold', ({ setup }) => thresholdOf(setup)),
  summarising('summarizationMiddleware at 80,000', () => 80_000),
  byList({
    name: 'contextEditingMiddleware, defaults',
    who: 'LangChain',
    send: async (messages, { port }) => {
      const { list, origins } = toLangChain(messages)
      const before = [...list]
      await new ClearToolUsesEdit({}).apply({ messages: list, countTokens: countTokensApproximately } as never)
      if (list.every((message, at) => message === before[at])) return messages
      port.note('clearing')
      const changed = new Map([...origins].filter(([id]) => list.some((message) => message.id === id)))
      return fromLangChain(list, changed)
    },
  }),
]
