// Keeps the tool runner of the official SDK small: after each reply, replaces its messages by the prepared ones, so that the
// runner does not carry a history that no request contains any more.
import { isObject } from '../../core/message/json.ts'
import { readUsage } from '../../core/message/usage.ts'
import type { ManagedHistory } from '../history/managed-history.ts'
import { type MessageConversion, type MessageParam, marksItself } from './messages.ts'

/** The part of the SDK's BetaToolRunner that is used. */
export type ToolRunnerLike<Reply> = AsyncIterable<Reply> & {
  readonly params: {
    readonly model: string
    readonly messages: readonly object[]
    readonly max_tokens: number
    readonly system?: unknown
    readonly tools: readonly object[]
  }
  readonly generateToolResponse: () => Promise<object | null>
  readonly setMessagesParams: (params: never) => void
}

export type ToolRunnerParts = Pick<MessageConversion, 'unmarked'> & {
  /** The conversation of these messages for this model. */
  readonly historyOf: (messages: readonly MessageParam[], model: string) => Promise<ManagedHistory<MessageParam>>
}

export async function* runTools<Reply>(
  runner: ToolRunnerLike<Reply>,
  { historyOf, unmarked }: ToolRunnerParts,
): AsyncGenerator<Reply, void> {
  for await (const reply of runner) {
    yield reply
    const { content, usage: reported } = await finalMessage(reply)
    const results = await runner.generateToolResponse()
    if (!results) continue
    const { params } = runner
    // The runner returns the marks of the last round. Together with new ones, they would exceed the limit of a request.
    const earlier = (params.messages as readonly MessageParam[]).map(unmarked)
    const messages = [...earlier, { role: 'assistant', content }, results] as readonly MessageParam[]
    const history = await historyOf(messages, params.model)
    const usage = readUsage(reported)
    const { max_tokens: maxTokens, tools, system } = params
    const base = { maxTokens, tools, ...(system ? { system: system as string } : {}) }
    const prepared = await history.prepare(messages, { base, usage: usage?.iterations?.at(-1) ?? usage })
    const isMarked = marksItself({ ...params, messages })
    const next = isMarked ? prepared.messages.map(unmarked) : prepared.messages
    runner.setMessagesParams({ ...params, messages: next } as never)
  }
}

/** A reply is a message, or a stream of one. */
async function finalMessage(reply: unknown): Promise<{ readonly content?: unknown; readonly usage?: unknown }> {
  const message: unknown =
    isObject(reply) && typeof reply.finalMessage === 'function' ? await reply.finalMessage() : reply
  return isObject(message) ? message : {}
}
