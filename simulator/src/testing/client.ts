// A model client over a simulator held in process, for tests of what a client is used for. It does not stream and does
// not retry: clients for people are the engine's. No part of the package.
import type {
  Block,
  ModelAnswer,
  ModelCapabilities,
  ModelClient,
  ModelFailure,
  ModelRequest,
  SendOptions,
} from 'everlong'
import { isObject, type JsonObject, modelFacts, stringAt } from 'everlong/internal'
import type { Simulator } from '../simulator.ts'
import { ask } from './ask.ts'

export type SimulatedClient = ModelClient & { readonly requests: readonly ModelRequest[] }

export type ClientOptions = {
  readonly model?: string
  readonly provider?: string
  readonly capabilities?: Partial<ModelCapabilities>
  /** Fails on purpose: the answer to give instead, by the number of the request. */
  readonly instead?: (
    request: ModelRequest,
    number: number,
  ) => ModelFailure | ModelAnswer | undefined | Promise<ModelFailure | ModelAnswer | undefined>
}

export function simulatedClient(simulator: Simulator, options: ClientOptions = {}): SimulatedClient {
  const { model = 'claude-sonnet-4-5', provider = 'anthropic', instead } = options
  const requests: ModelRequest[] = []
  return {
    provider,
    model,
    requests,
    capabilities: (name) => ({
      ...(modelFacts(name) ? { maxOutput: modelFacts(name)?.maxOutput ?? 0 } : {}),
      cacheEdits: false,
      contextManagement: true,
      compaction: 'none',
      promptCache: true,
      offline: false,
      ...options.capabilities,
    }),
    send: async (request, how) => {
      requests.push(request)
      const other = await instead?.(request, requests.length)
      return other ?? answerOf(simulator, request, how)
    },
  }
}

/** The body that the API gets. */
export function bodyOf({ model, system, tools, messages, maxTokens, thinking, options }: ModelRequest): JsonObject {
  return {
    model,
    max_tokens: maxTokens ?? 4_096,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    ...(thinking === undefined ? {} : { thinking }),
    ...options,
    messages: messages.map(({ role, content }) => ({ role, content })),
  }
}

async function answerOf(
  simulator: Simulator,
  request: ModelRequest,
  how: SendOptions | undefined,
): Promise<ModelAnswer | ModelFailure> {
  if (how?.signal?.aborted) return failed('aborted', 'aborted')
  const headers = request.betas?.length ? { 'anthropic-beta': request.betas.join(',') } : {}
  const { status, body } = await ask(simulator, bodyOf(request), { headers })
  if (how?.signal?.aborted) return failed('aborted', 'aborted')
  if (status !== 200) return failureOf(status, body)
  how?.onEvent?.({ type: 'progress', outputTokens: 1 })
  const content = Array.isArray(body.content) ? (body.content as readonly Block[]) : []
  const usage = isObject(body.usage) ? body.usage : {}
  const count = (key: string): number => (typeof usage[key] === 'number' ? usage[key] : 0)
  return {
    type: 'answer',
    id: stringAt(body, 'id') ?? '',
    model: stringAt(body, 'model') ?? request.model,
    content,
    stopReason: stringAt(body, 'stop_reason') ?? '',
    usage: {
      input: count('input_tokens'),
      output: count('output_tokens'),
      cacheRead: count('cache_read_input_tokens'),
      cacheWrite: count('cache_creation_input_tokens'),
      cacheWriteHour: 0,
    },
  }
}

function failureOf(status: number, body: JsonObject): ModelFailure {
  const error = isObject(body.error) ? body.error : body
  const message = stringAt(error, 'message') ?? JSON.stringify(body)
  const alone = /prompt is too long: (\d+) tokens > (\d+) maximum/.exec(message)
  if (alone)
    return { ...failed('overflow', message, status), overflow: { actual: Number(alone[1]), limit: Number(alone[2]) } }
  const both = /exceed context limit: (\d+) \+ (\d+) > (\d+)/.exec(message)
  if (both) {
    const overflow = { actual: Number(both[1]), maxTokens: Number(both[2]), limit: Number(both[3]) }
    return { ...failed('overflow', message, status), overflow }
  }
  if (/too long|too large|reduce the length/i.test(message)) return failed('overflow', message, status)
  if (status === 413) return failed('too-large', message, status)
  return failed(status === 429 || status >= 500 ? 'transient' : 'invalid', message, status)
}

export function failed(reason: ModelFailure['reason'], message: string, status?: number): ModelFailure {
  return { type: 'failed', reason, message, tries: 1, ...(status === undefined ? {} : { status }) }
}
