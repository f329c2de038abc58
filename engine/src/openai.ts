// everlong/openai: the client for chat completions, and histories of chat completions and of the Responses API for hosts that
// call the official SDK, an optional peer, in their own loop: each request is reduced before it is sent, and repeated once if it
// was too long. Never changes its input.
import {
  type AdapterOptions,
  type AdapterSessions,
  adapterSessions,
  joinedSessions,
  type StoredById,
  storedById,
} from './adapter-sessions.ts'
import type { Converter } from './adapters/history/converter.ts'
import { type ChatMessageLike, chatConverter } from './adapters/openai/chat.ts'
import { groupItems, type ItemGroup, itemConverter } from './adapters/openai/items.ts'
import { toolDefinition } from './adapters/parts.ts'
import { chatUsage } from './core/message/chat-completions.ts'
import { defined, type JsonObject, objectAt } from './core/message/json.ts'
import { textOf } from './core/message/message.ts'
import type { TokenCounts } from './core/message/usage.ts'
import type { ModelClient } from './core/ports/model.ts'
import { responsesUsage } from './models/openai/responses.ts'

export { HistoryMismatchError } from './adapters/history/managed-history.ts'
export { type OpenAIOptions, openai } from './models/openai/client.ts'

/** The other parts of a request, which count towards the size, and its conversation. */
export type OpenAICall = {
  readonly sessionId?: string
  readonly model?: string
  readonly instructions?: string | null
  readonly tools?: readonly object[]
  readonly maxTokens?: number
  /** The API's usage for the previous answer, if that was streamed. Without it, the size of the history is estimated. */
  readonly usage?: object
  readonly signal?: AbortSignal
}

/** Without `sessionId` here, the call's own names its conversation. */
export type OpenAISdkOptions = AdapterOptions<OpenAICall> & {
  /** Writes the summaries: `openai({ model })`, or any other client. */
  readonly model: ModelClient
}

/** The reduced history to send, and a lower limit if input and output together were too long. */
type OpenAISent<Message> = { readonly messages: Message[]; readonly maxTokens?: number }

/** Calls `send` with the reduced history, and once more if the prompt was too long. Reads the answer's usage. */
type OpenAIRun<Base extends object> = <Message extends Base, Answer>(
  messages: readonly Message[],
  call: OpenAICall,
  send: (sent: OpenAISent<Message>) => PromiseLike<Answer>,
) => Promise<Answer>

export type OpenAISdk = AdapterSessions & {
  /** For `client.chat.completions.create({ messages })`. */
  readonly chat: OpenAIRun<ChatMessageLike>
  /** For `client.responses.create({ input })`. Not with `previous_response_id`, because such a history is on the server. */
  readonly responses: OpenAIRun<object>
}

export function everlong(options: OpenAISdkOptions): OpenAISdk {
  const { model, ...others } = options
  const stored = storedById(others, model)
  const chat = managed<ChatMessageLike, ChatMessageLike>(options, {
    converter: chatConverter(),
    stored,
    grouped: (messages) => messages,
    flat: (messages) => messages,
    usageOf: (answer) => {
      const usage = objectAt(answer, 'usage')
      return usage ? chatUsage(usage) : undefined
    },
  })
  const responses = managed<object, ItemGroup>(options, {
    converter: itemConverter('responses'),
    stored,
    grouped: groupItems,
    flat: (groups) => groups.flat(),
    usageOf: (answer) => (objectAt(answer, 'usage') ? responsesUsage(answer) : undefined),
  })
  return { chat: chat.run, responses: responses.run, ...joinedSessions(chat, responses, stored) }
}

type Shape<Base extends object, Foreign> = {
  readonly converter: Converter<Foreign>
  readonly grouped: (messages: readonly Base[]) => readonly Foreign[]
  readonly flat: (foreign: readonly Foreign[]) => readonly Base[]
  readonly usageOf: (answer: unknown) => TokenCounts | undefined
  readonly stored: StoredById
}

function managed<Base extends object, Foreign>(
  { model: client, ...options }: OpenAISdkOptions,
  { converter, grouped, flat, usageOf, stored }: Shape<Base, Foreign>,
) {
  const { historyOf, ...part } = adapterSessions<Foreign, OpenAICall>(options, {
    converter,
    stored,
    howToName: 'Pass `sessionId` with it, next to `model` and `tools`, or to everlong().',
  })
  const run: OpenAIRun<Base> = async <Message extends Base, Answer>(
    given: readonly Message[],
    call: OpenAICall,
    send: (sent: OpenAISent<Message>) => PromiseLike<Answer>,
  ) => {
    const messages = grouped(given)
    const { sessionId: id, model, signal } = call
    const history = await historyOf({ host: call, id, messages, client: () => client, model })
    const among = messages.filter(converter.isSystem).map((message) => textOf(converter.read(message).content))
    const choice = model === undefined ? undefined : { client, name: model }
    const options = { base: baseOf(call, among), model: choice, signal, usage: usageOf(call) }
    const answer = await history.run(messages, options, ({ messages: sent, maxTokens }) =>
      send({ messages: [...flat(sent)] as Message[], ...defined({ maxTokens }) }),
    )
    history.reportUsage(usageOf(answer))
    return answer
  }
  return { run, ...part }
}

/** The system prompt may be among the messages. */
function baseOf({ instructions, tools, maxTokens }: OpenAICall, among: readonly string[]) {
  const system = [instructions ?? '', ...among].filter((part) => part !== '').join('\n\n')
  return {
    ...(system === '' ? {} : { system }),
    ...(tools ? { tools: tools.map(definitionOf) } : {}),
    ...defined({ maxTokens }),
  }
}

/** A tool of the Responses API has its fields at the top level. */
function definitionOf(tool: object): object {
  return 'name' in tool && 'parameters' in tool ? toolDefinition(tool as JsonObject, tool.parameters) : tool
}
