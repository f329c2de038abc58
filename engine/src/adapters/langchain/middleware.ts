// Middleware for agents of LangChain: a compaction replaces the messages in the agent's state, every request is reduced and
// repeated once if it was too long, and a large tool result is shortened with its original as the artifact.
import type { BaseMessage, ToolMessage } from '@langchain/core/messages'
import type { AgentMiddleware, ContextEdit } from 'langchain'
import { defined, isObject, type JsonObject, numberAt, objectAt } from '../../core/message/json.ts'
import { isToolResult, textOf } from '../../core/message/message.ts'
import { shortenedResult } from '../../core/transcript/view/effects.ts'
import type { CallOptions, ManagedHistory, Prepared } from '../history/managed-history.ts'
import { toolDefinition } from '../parts.ts'
import type { ChatModelLike } from './client.ts'
import { type LangChainClasses, readLangChainMessage, withContent, writeLangChainMessage } from './messages.ts'

/** The parts of a call that `sessionId` can look at. */
export type LangChainCall = {
  readonly messages: readonly BaseMessage[]
  /** Id of the thread with which the agent was invoked. */
  readonly threadId?: string
}

export type LangChainParts = {
  /** The conversation of a call. Remembers the called model. */
  readonly historyOf: (call: LangChainCall, model?: ChatModelLike) => Promise<ManagedHistory<BaseMessage>>
  /** LangChain is loaded with the first call. */
  readonly classes: () => Promise<LangChainClasses>
  /** The last called model and the client for summaries. Undefined before the first call. */
  readonly model: () => CallOptions['model']
  /** Maximum characters of a tool result. Longer ones are shortened. */
  readonly maxResultLength: number
}

export type LangChainMiddleware = AgentMiddleware
export type LangChainEdit = ContextEdit

const brand = Symbol.for('AgentMiddleware')
/** The id that removes all messages of a state. */
const everyMessage = '__remove_all__'

type Hooks = Required<Pick<AgentMiddleware, 'wrapModelCall' | 'wrapToolCall'>>
type ModelRequest = Parameters<Hooks['wrapModelCall']>[0]
type Configured = {
  readonly configurable?: { readonly thread_id?: string } | undefined
  readonly signal?: AbortSignal | undefined
}
type History = ManagedHistory<BaseMessage>

/** A call that `beforeModel` prepared for the following `wrapModelCall`. */
type PreparedCall = {
  readonly messages: readonly BaseMessage[]
  readonly options: CallOptions | undefined
  readonly prepared: Prepared<BaseMessage>
}

export function createLangChainMiddleware(parts: LangChainParts): AgentMiddleware {
  /** The base of the last request, because `beforeModel` does not get the system prompt and the tools. */
  const bases = new WeakMap<History, CallOptions>()
  const ahead = new WeakMap<History, PreparedCall>()
  const historyOf = (messages: readonly BaseMessage[], { configurable }: Configured, model?: ChatModelLike) =>
    parts.historyOf({ messages, ...defined({ threadId: configurable?.thread_id }) }, model)
  const replacing = async (messages: readonly BaseMessage[]) => {
    const { RemoveMessage } = await parts.classes()
    return { messages: [new RemoveMessage({ id: everyMessage }), ...messages] }
  }
  return {
    [brand]: true,
    name: 'everlong',
    beforeModel: async ({ messages }: { messages: BaseMessage[] }, runtime: Configured) => {
      // The window is the called model's, which is unknown before the first call.
      if (!parts.model() || messages.length === 0) return undefined
      const history = await historyOf(messages, runtime)
      const options = bases.get(history)
      const prepared = await history.prepare(messages, { ...options, signal: runtime.signal })
      const isReplaced = isCompacted(messages, prepared.messages)
      ahead.set(history, { messages: isReplaced ? prepared.messages : [...messages], options, prepared })
      return isReplaced ? replacing(prepared.messages) : undefined
    },
    wrapModelCall: async (request: ModelRequest, handler: Parameters<Hooks['wrapModelCall']>[1]) => {
      const history = await historyOf(request.messages, request.runtime, request.model as ChatModelLike)
      const call = { base: baseOf(request), model: parts.model() }
      bases.set(history, call)
      const known = ahead.get(history)
      ahead.delete(history)
      const prepared = known && isFor(known, request.messages, call) ? known.prepared : undefined
      const { signal } = request.runtime
      return history.run(request.messages, { ...call, signal, prepared }, async ({ messages }) =>
        handler({ ...request, messages: [...messages] }),
      )
    },
    wrapToolCall: async (request, handler) => {
      const result = await handler(request)
      return isToolMessage(result) ? shortened(result, await parts.classes(), parts.maxResultLength) : result
    },
  } satisfies AgentMiddleware & { readonly [brand]: true } as AgentMiddleware
}

function isFor({ messages, options }: PreparedCall, given: readonly BaseMessage[], call: CallOptions): boolean {
  const isSame = given.length === messages.length && given.every((message, at) => message === messages[at])
  const keyOf = ({ base, model }: CallOptions) => JSON.stringify([base, model?.name])
  return isSame && options !== undefined && keyOf(options) === keyOf(call)
}

/** True if the conversation begins with a summary instead of one of the agent's messages. */
function isCompacted(given: readonly BaseMessage[], prepared: readonly BaseMessage[]): boolean {
  const first = prepared.find(({ type }) => type !== 'system' && type !== 'developer')
  return first !== undefined && !given.includes(first)
}

/** For `contextEditingMiddleware({ edits: [edit] })`, which passes a list to be changed in place. */
export function createContextEdit({ historyOf, model: known }: LangChainParts): ContextEdit {
  return {
    apply: async ({ messages, model }) => {
      if ((!model && !known()) || messages.length === 0) return
      const history = await historyOf({ messages }, model as ChatModelLike | undefined)
      const prepared = await history.prepare(messages, { model: known() })
      messages.splice(0, messages.length, ...prepared.messages)
    },
  }
}

function baseOf({ systemMessage, tools, model }: ModelRequest): NonNullable<CallOptions['base']> {
  const system = systemMessage ? textOf(readLangChainMessage(systemMessage).content) : ''
  return {
    ...(system === '' ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools: tools.map(definitionOf) }),
    ...defined({ maxTokens: numberAt(model, 'maxTokens') }),
  }
}

/** The definition, as far as the object shows it. */
function definitionOf(tool: object): object {
  return 'name' in tool ? toolDefinition(tool as JsonObject, schemaOf(objectAt(tool, 'schema'))) : tool
}

/** Undefined for schemas without a JSON form. Some of Zod's cannot be converted and throw. */
function schemaOf(schema: JsonObject | undefined): JsonObject | undefined {
  if (typeof schema?.toJSONSchema !== 'function') return typeof schema?.type === 'string' ? schema : undefined
  try {
    return schema.toJSONSchema() as JsonObject
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

function isToolMessage(result: unknown): result is ToolMessage {
  return isObject(result) && result.type === 'tool' && typeof result.tool_call_id === 'string'
}

/** The original becomes the artifact, together with the tool's own artifact. */
function shortened(message: ToolMessage, classes: LangChainClasses, keep: number): ToolMessage {
  const [block] = readLangChainMessage(message).content
  if (!block || !isToolResult(block)) return message
  const short = shortenedResult(block, { keep, recall: false })
  if (short === undefined || short === block.content) return message
  const [written] = writeLangChainMessage(
    { role: 'user', content: [{ ...block, content: short }] },
    classes,
    () => message,
  )
  const artifact = { original: message.content, artifact: message.artifact as unknown }
  return written ? (withContent(written, written.content, { artifact }) as ToolMessage) : message
}
