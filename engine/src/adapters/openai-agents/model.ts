// A model of the OpenAI Agents SDK whose calls stay inside the window: reduced before they are sent, repeated once if they were
// too long, and measured by the reported usage. Calls whose history is on the server pass unchanged.
import type { Model } from '@openai/agents'
import { defined, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import type { TokenCounts } from '../../core/message/usage.ts'
import type { CallOptions, ManagedHistory, Recovered } from '../history/managed-history.ts'
import type { ItemGroup } from '../openai/items.ts'
import { usageWithCache } from '../parts.ts'
import { withMethods } from '../with-methods.ts'
import { type AgentItem, type AgentsParts, definitionsOf } from './input-filter.ts'

export type AgentsModel = Model
type Request = Parameters<Model['getResponse']>[0]
type StreamEvent = ReturnType<Model['getStreamedResponse']> extends AsyncIterable<infer Event> ? Event : never
type Group = ItemGroup<AgentItem>

export type ManagedModelParts = AgentsParts & {
  /** The name of the model, if the host gives it. */
  readonly name: string | undefined
}

export function managedModel<Inner extends Model>(inner: Inner, parts: ManagedModelParts): Inner {
  // Models of the SDK do not expose their names, but their answers may have them.
  let { name } = parts
  const callOf = async (request: Request, items: AgentItem[]) => {
    const { groups, history, model } = await parts.conversation({ items }, name)
    return { groups, history, options: { ...optionsOf(request), model } }
  }
  const learn = (history: ManagedHistory<Group>, response: unknown) => {
    name ??= stringAt(objectAt(response, 'providerData'), 'model')
    history.reportUsage(usageIn(response))
  }
  const getResponse: Model['getResponse'] = async (request) => {
    const items = itemsOf(request)
    if (!items) return inner.getResponse(request)
    const { groups, history, options } = await callOf(request, items)
    const response = await history.run(groups, options, (sent) => inner.getResponse(withItems(request, sent)))
    learn(history, response)
    return response
  }
  const getStreamedResponse: Model['getStreamedResponse'] = async function* (request) {
    const items = itemsOf(request)
    if (!items) return yield* inner.getStreamedResponse(request)
    const { groups, history, options } = await callOf(request, items)
    // The first event shows that the request was accepted.
    const started = await history.run(groups, options, (sent) =>
      startStream(inner.getStreamedResponse(withItems(request, sent))),
    )
    for await (const event of eventsOf(started)) {
      if (event.type === 'response_done') learn(history, event.response)
      yield event
    }
  }
  return withMethods(inner, { getResponse, getStreamedResponse })
}

/** Undefined if the server holds the history. */
function itemsOf({ input, previousResponseId, conversationId }: Request): AgentItem[] | undefined {
  if (previousResponseId !== undefined || conversationId !== undefined) return undefined
  return Array.isArray(input) && input.length > 0 ? input : undefined
}

function withItems(request: Request, { messages, maxTokens }: Recovered<Group>): Request {
  const settings = maxTokens === undefined ? {} : { modelSettings: { ...request.modelSettings, maxTokens } }
  return { ...request, ...settings, input: messages.flat() }
}

function optionsOf({ systemInstructions: system, tools, modelSettings, signal }: Request): CallOptions {
  const { maxTokens } = modelSettings
  return { base: { ...defined({ system, maxTokens }), ...definitionsOf(tools) }, signal }
}

type StartedStream = { readonly first: IteratorResult<StreamEvent>; readonly rest: AsyncIterator<StreamEvent> }

async function startStream(stream: AsyncIterable<StreamEvent>): Promise<StartedStream> {
  const rest = stream[Symbol.asyncIterator]()
  return { first: await rest.next(), rest }
}

async function* eventsOf({ first, rest }: StartedStream): AsyncIterable<StreamEvent> {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

function usageIn(response: unknown): TokenCounts | undefined {
  const usage = objectAt(response, 'usage')
  const details = usage?.inputTokensDetails
  const [first] = Array.isArray(details) ? details : [details]
  return usageWithCache(
    defined({
      input: numberAt(usage, 'inputTokens'),
      output: numberAt(usage, 'outputTokens'),
      cacheRead: numberAt(first, 'cached_tokens'),
    }),
  )
}
