// A call of the AI SDK: its conversation, the model for its summaries, and its parts besides the messages.
import { arrayAt, defined, isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import type { ModelClient } from '../../core/ports/model.ts'
import type { RequestInput } from '../../core/session/input.ts'
import { type Converter, leadingMessages } from '../history/converter.ts'
import type { CallOptions, HistoryOf, ManagedHistory } from '../history/managed-history.ts'
import { toolDefinition } from '../parts.ts'
import { type Generating, languageModelClient, type OwnCall, systemText } from './client.ts'
import { type AiMessage, anthropicOptions, isSystem, partsIn } from './messages.ts'

export type AiHistory = ManagedHistory<AiMessage>

export type AiCall<Host> = {
  readonly host: Host
  readonly messages: readonly AiMessage[]
  /** The conversation, if the call names it. */
  readonly id?: string | undefined
  /** The called model. Undefined if only its name is known. */
  readonly model: Generating | undefined
  readonly modelName?: string | undefined
  /** The other parameters of the call to the model, if known. */
  readonly params?: JsonObject
  readonly isStreaming?: boolean
  /** The messages belong to this call alone, so they may get marks for the prompt cache. */
  readonly takesMarks?: boolean | undefined
}

export type AiHistoryOf<Host> = (call: AiCall<Host>) => Promise<{
  readonly history: AiHistory
  /** The called model: another one than before changes the window and the prices. */
  readonly model: CallOptions['model']
}>

export type AiParts<Host> = {
  readonly converter: Converter<AiMessage>
  /** Writes the summaries instead of the called model. */
  readonly model?: Generating | ModelClient | undefined
  readonly historyOf: HistoryOf<AiMessage, Host>
}

/** The newest call of a conversation, for the client that writes its summaries. */
type NewestCall = { call?: OwnCall }

export function aiHistories<Host>({ converter, model, historyOf }: AiParts<Host>): AiHistoryOf<Host> {
  const calls = new WeakMap<AiHistory, NewestCall>()
  const clientFor = (call: AiCall<Host>, newest: NewestCall): ModelClient => {
    const given = summarizerOf(model, { converter, takesMarks: call.takesMarks })
    if (given) return given
    if (call.model === undefined) throw new TypeError(modelMissing)
    const ownCall = call.params === undefined ? undefined : () => newest.call
    return languageModelClient(call.model, { converter, ownCall, takesMarks: call.takesMarks })
  }
  return async (call) => {
    const { host, id, messages, params = {}, isStreaming = false } = call
    const first: NewestCall = {}
    const name = call.model?.modelId ?? call.modelName
    const history = await historyOf({
      host,
      id,
      messages,
      client: () => clientFor(call, first),
      model: name,
      asksCalled: model === undefined,
      hasMarks: hasMarks(call),
      sharesCache: call.params !== undefined,
    })
    const newest = calls.get(history) ?? first
    calls.set(history, newest)
    newest.call = {
      params,
      isStreaming,
      head: leadingMessages(messages, isSystem),
      toForeign: (own) => history.toForeign(own),
    }
    const isKnown = name !== undefined && (model !== undefined || call.model !== undefined)
    return { history, model: isKnown ? { client: clientFor(call, newest), name } : undefined }
  }
}

/** A client that writes the summaries instead of the called model, with its own cache. */
export function summarizerOf(
  model: AiParts<never>['model'],
  options: Pick<AiParts<never>, 'converter'> & Pick<AiCall<never>, 'takesMarks'>,
): ModelClient | undefined {
  if (model === undefined) return undefined
  return 'capabilities' in model ? summarizing(model) : languageModelClient(model, options)
}

/** A client of the host's only writes summaries. It does not send the calls, so it has no abilities for them. */
function summarizing(client: ModelClient): ModelClient {
  const capabilities: ModelClient['capabilities'] = (model) => ({
    ...client.capabilities(model),
    cacheEdits: false,
    contextManagement: false,
    promptCache: false,
  })
  return { ...client, capabilities }
}

const modelMissing =
  'everlong(): the model of this call is known only by name. Pass `model`, which writes the summaries, or use a model object.'

/** The parts besides the messages that count towards the size. */
export function requestInput(messages: readonly AiMessage[], params: JsonObject): RequestInput {
  const system = systemText(leadingMessages(messages, isSystem))
  const tools = Array.isArray(params.tools)
    ? params.tools.filter(isObject).map((tool) => toolDefinition(tool, tool.inputSchema ?? tool.args))
    : undefined
  const thinking = objectAt(anthropicOptions(params), 'thinking')
  const type = stringAt(thinking, 'type')
  return {
    ...(system === '' ? {} : { system }),
    ...defined({ tools, maxTokens: typeof params.maxOutputTokens === 'number' ? params.maxOutputTokens : undefined }),
    ...(type === undefined ? {} : { thinking: { type, ...defined({ budget_tokens: thinking?.budgetTokens }) } }),
  }
}

export function hasMarks({ messages, params = {} }: Pick<AiCall<unknown>, 'messages' | 'params'>): boolean {
  const isMarked = (value: unknown) => anthropicOptions(value)?.cacheControl !== undefined
  const inMessages = messages.some((message) => isMarked(message) || partsIn(message.content).some(isMarked))
  return inMessages || isMarked(params) || arrayAt(params, 'tools').some(isMarked)
}
