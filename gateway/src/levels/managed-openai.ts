// Level 3 for chat completions and the Responses API: the engine's own adapter reduces the history, asks for summaries over the
// request that is being handled, and sends a smaller one if the upstream says that a prompt is too long.
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from 'everlong/internal'
import { everlong, type OpenAISdkOptions, openai } from 'everlong/openai'
import { eventsOf } from '../dialects/events.ts'
import type { ManagedSdk, Sending, UpstreamWay } from './managed-sdk.ts'

export type OpenAiApi = 'chat' | 'responses'

const listFields = { chat: 'messages', responses: 'input' } as const
const limitFields = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'] as const

export function openAiSdk(api: OpenAiApi, options: Omit<OpenAISdkOptions, 'model'>): ManagedSdk {
  let newest: UpstreamWay | undefined
  /** Usage of the newest answer. Known when its stream has ended, for which the next request waits. */
  let reported: Promise<object | undefined> | undefined
  const create = async (body: object) => {
    if (!newest) throw new Error('There is no request to ask over.')
    const response = await newest.next({ body: JSON.stringify(body) })
    if (!response.ok) throw await Refused.by(response, newest)
    return eventsOf(Buffer.from(await response.arrayBuffer()), response.headers.get('content-type') ?? undefined)
  }
  const client = { baseURL: 'http://upstream/v1', chat: { completions: { create } }, responses: { create } }
  // The client has already waited, and retries by itself.
  const model = openai({ model: '', api, client, retry: { retries: 0 } })
  const { chat, responses, close } = everlong({ ...options, model })
  const run = api === 'chat' ? (chat as typeof responses) : responses
  return {
    close,
    run: async (sending) => {
      newest = sending.wire
      const usage = await reported
      reported = undefined
      try {
        const call = { ...callOf(sending), ...(usage ? { usage } : {}) }
        const response = await run(arrayAt(sending.body, listFields[api]) as never, call, (sent) =>
          send(sending, { [listFields[api]]: sent.messages, ...limitOf(sending.body, sent.maxTokens) }),
        )
        reported = usageOf(response, sending.wire)
        return response
      } catch (error) {
        if (error instanceof Refused) return error.response
        throw error
      }
    },
  }
}

async function usageOf(response: Response, { context }: UpstreamWay): Promise<object | undefined> {
  return objectAt(await context.parse(response), 'usage')
}

/** The upstream's refusal, in the form that the adapter expects from the official client. */
class Refused extends Error {
  readonly response: Response
  readonly status: number
  readonly error: unknown

  constructor(response: Response, error: unknown) {
    super(`The upstream answered with ${response.status}.`)
    this.response = response
    // A stream that failed has already begun with status 200.
    this.status = response.ok ? 400 : response.status
    this.error = error
  }

  static async by(response: Response, { context }: UpstreamWay): Promise<Refused> {
    const body = await context.parse(response)
    return new Refused(response, isObject(body) ? (body.error ?? body) : body)
  }
}

async function send({ wire, body }: Sending, changed: JsonObject): Promise<Response> {
  const response = await wire.next({ body: JSON.stringify({ ...body, ...changed }), signal: wire.signal })
  const failure = wire.failureIn(response)
  if (failure) throw new Refused(response, failure)
  if (!response.ok) throw await Refused.by(response, wire)
  return response
}

function callOf({ body, wire }: Sending) {
  const limit = limitFields.map((field) => body[field]).find((value) => typeof value === 'number')
  const model = stringAt(body, 'model')
  return {
    ...(model === undefined ? {} : { model }),
    ...(typeof body.instructions === 'string' ? { instructions: body.instructions } : {}),
    tools: arrayAt(body, 'tools').filter(isObject),
    ...(limit === undefined ? {} : { maxTokens: limit }),
    signal: wire.signal,
  }
}

/** Under the name that the caller uses. */
function limitOf(body: JsonObject, maxTokens: number | undefined): JsonObject {
  const field = limitFields.find((name) => typeof body[name] === 'number')
  return maxTokens === undefined || field === undefined ? {} : { [field]: maxTokens }
}
