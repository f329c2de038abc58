// The conversations of an application on the AI SDK: one session for each, and what the calls have in common.
import { defined, isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import type { ModelClient } from '../../core/ports/model.ts'
import type { RequestInput } from '../../core/session/input.ts'
import { createConversations } from '../history/conversations.ts'
import type { AdapterSession, ManagedHistory } from '../history/managed-history.ts'
import { type Generating, languageModelClient, type OwnCall, systemText } from './client.ts'
import { aiSdkConverter } from './converter.ts'
import { type AiMessage, type FileShape, partsIn } from './shapes.ts'

export type AiHistory = ManagedHistory<AiMessage>

export type ConversationSettings = {
  readonly files: FileShape
  /** Writes summaries in place of the model that is called. */
  readonly model?: Generating | ModelClient | undefined
  readonly session?: AdapterSession | undefined
  /** Starts or opens a session whose summaries this client writes. */
  readonly start: (client: ModelClient, how: Starting) => Promise<AdapterSession>
  readonly most?: number | undefined
}

export type Starting = {
  readonly id: string | undefined
  /** The host sets marks for the prompt cache itself: there may be four of them in all. */
  readonly hasMarks: boolean
  /** A summary can be asked for in a way that reads the conversation's cache. */
  readonly sharesCache: boolean
  /** The model that is called. */
  readonly model: string | undefined
}

export type Call = {
  readonly messages: readonly AiMessage[]
  readonly id?: string | undefined
  /** The model that is called; undefined when only its name is known. */
  readonly model: Generating | undefined
  readonly modelName?: string | undefined
  /** Everything else of the call to the model, where it is known. */
  readonly params?: JsonObject
  readonly isStreaming?: boolean
  /** The messages are made for this call alone, so marks for the prompt cache may be put on them. */
  readonly takesMarks?: boolean
}

export type AiConversations = {
  readonly of: (call: Call) => Promise<AiHistory>
  readonly all: () => readonly AiHistory[]
  readonly close: () => Promise<void>
}

export function aiConversations(settings: ConversationSettings): AiConversations {
  const converter = aiSdkConverter(settings.files)
  const calls = new WeakMap<AiHistory, OwnCall>()
  const clientFor = (call: Call, history: () => AiHistory | undefined): ModelClient => {
    const given = settings.model ?? call.model
    if (given === undefined) throw new TypeError(modelMissing)
    if (isClient(given)) return summarizing(given)
    // Another model has a cache of its own.
    const isOwn = settings.model === undefined && call.params !== undefined
    const ownCall = () => {
      const own = history()
      return own && calls.get(own)
    }
    return languageModelClient(given, { converter, ownCall: isOwn ? ownCall : undefined, takesMarks: call.takesMarks })
  }
  const start = () => Promise.reject(new TypeError(modelMissing))
  const all = createConversations<AiMessage>({ converter, session: settings.session, most: settings.most, start })
  return {
    of: async (call) => {
      const history = await all.of(call.messages, call.id, (id, own) =>
        settings.start(clientFor(call, own), {
          id,
          hasMarks: hasMarks(call),
          sharesCache: call.params !== undefined,
          model: call.model?.modelId ?? call.modelName,
        }),
      )
      const { params = {}, isStreaming = false, messages } = call
      calls.set(history, { params, isStreaming, head: headOf(messages), toForeign: (own) => history.toForeign(own) })
      return history
    },
    all: all.all,
    close: all.close,
  }
}

/** A client of the host's writes summaries only: it does not send the calls, so it can promise nothing about them. */
function summarizing(client: ModelClient): ModelClient {
  const capabilities: ModelClient['capabilities'] = (model) => ({
    ...client.capabilities(model),
    cacheEdits: false,
    contextManagement: false,
    promptCache: false,
  })
  return { ...client, capabilities }
}

function headOf(messages: readonly AiMessage[]): readonly AiMessage[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return messages.slice(0, Math.max(0, first))
}

const modelMissing =
  'everlong(): the model of this call is known only by name. Pass `model`, which writes the summaries, or use a model object.'

function isClient(model: Generating | ModelClient): model is ModelClient {
  return 'capabilities' in model
}

/** What counts for the size besides the messages. */
export function requestInput(messages: readonly AiMessage[], params: JsonObject): RequestInput {
  const system = systemText(headOf(messages))
  const tools = Array.isArray(params.tools) ? params.tools.filter(isObject).map(toolOf) : undefined
  const thinking = objectAt(objectAt(params.providerOptions, 'anthropic'), 'thinking')
  const type = stringAt(thinking, 'type')
  return {
    ...(system === '' ? {} : { system }),
    ...defined({ tools, maxTokens: typeof params.maxOutputTokens === 'number' ? params.maxOutputTokens : undefined }),
    ...(type === undefined ? {} : { thinking: { type, ...defined({ budget_tokens: thinking?.budgetTokens }) } }),
  }
}

function toolOf({ name, description, inputSchema, args }: JsonObject): JsonObject {
  return { name, ...defined({ description, input_schema: inputSchema ?? args }) }
}

function hasMarks({ messages, params = {} }: Call): boolean {
  const isMarked = (value: unknown) =>
    objectAt(objectAt(value, 'providerOptions'), 'anthropic')?.cacheControl !== undefined
  const tools = Array.isArray(params.tools) ? params.tools : []
  const inMessages = messages.some((message) => isMarked(message) || partsIn(message.content).some(isMarked))
  return inMessages || isMarked(params) || tools.some(isMarked)
}
