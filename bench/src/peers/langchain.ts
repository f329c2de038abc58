// Conversations in LangChain's shape, and its own functions as this room calls them. Its code, not ours, does the work.
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import type { Block, Message } from 'everlong'
import { blocksOf, isText, isToolResult, isToolUse, type JsonObject, repairRequest, textOf } from 'everlong/internal'
import { ClearToolUsesEdit, countTokensApproximately, summarizationMiddleware } from 'langchain'
import { originOf, standingFor } from './origins.ts'

export { type BaseMessage, trimMessages } from '@langchain/core/messages'
export { countTokensApproximately } from 'langchain'

export function toLangChain(messages: readonly Message[]): BaseMessage[] {
  const list: BaseMessage[] = []
  const add = (make: (id: string) => BaseMessage, standsFor: readonly Block[]) =>
    list.push(standingFor(make(`m${list.length}`), standsFor))
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
    const rest = blocks.filter((block: Block) => !isToolResult(block))
    if (rest.length > 0) add((id) => new HumanMessage({ id, content: textOf(rest) }), rest)
  }
  return list
}

/** The provider's package merges neighbours of one role, and so does this. */
export function fromLangChain(list: readonly BaseMessage[]): readonly Message[] {
  const messages = list.map((message): Message => {
    const blocks = originOf(message)
    if (blocks) return { role: AIMessage.isInstance(message) ? 'assistant' : 'user', content: blocks }
    const text = String(message.content)
    if (!ToolMessage.isInstance(message)) return { role: 'user', content: [{ type: 'text', text }] }
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: message.tool_call_id, content: text }] }
  })
  return repairRequest(messages).messages
}

export type Clearing = {
  readonly trigger: number
  /** The newest results that stay: its default is 3. */
  readonly keep?: number
}

/** contextEditingMiddleware's own edit, on a list that it changes. */
export async function clearToolUses(messages: BaseMessage[], { trigger, keep = 3 }: Clearing): Promise<void> {
  const edit = new ClearToolUsesEdit({ trigger: { tokens: trigger }, keep: { messages: keep } })
  await edit.apply({ messages, countTokens: countTokensApproximately } as never)
}

type Update = { readonly messages?: readonly BaseMessage[] } | undefined
type Hook = (state: { readonly messages: BaseMessage[] }, runtime: { readonly context: object }) => Promise<Update>

export type Summarizing = {
  readonly tokens: number
  /** Its default is 20 messages. */
  readonly keep?: { readonly messages: number } | { readonly tokens: number }
  /** Its default is 4,000: what is longer is cut before the model sees it. */
  readonly maxToSummarize?: number
  readonly answer: (prompt: string) => string | Promise<string>
}

/** summarizationMiddleware with whoever answers as its model: the new list, or the old one when it did nothing. */
export function summarizeWith({ tokens, keep = { messages: 20 }, maxToSummarize, answer }: Summarizing) {
  const model = {
    invoke: async (prompt: unknown) => new AIMessage(await answer(wordsOf(prompt))),
  }
  const options = {
    model,
    trigger: { tokens },
    keep,
    ...(maxToSummarize === undefined ? {} : { trimTokensToSummarize: maxToSummarize }),
  }
  const { beforeModel } = summarizationMiddleware(options as never)
  const hook = (typeof beforeModel === 'function' ? beforeModel : beforeModel?.hook) as unknown as Hook
  return async (messages: BaseMessage[]): Promise<BaseMessage[]> => {
    const update = await hook({ messages }, { context: {} })
    return update?.messages?.filter((message) => message.getType() !== 'remove') ?? messages
  }
}

function wordsOf(prompt: unknown): string {
  if (typeof prompt === 'string') return prompt
  if (!Array.isArray(prompt)) return JSON.stringify(prompt)
  return prompt.map((message: { readonly content?: unknown }) => String(message.content)).join('\n')
}
