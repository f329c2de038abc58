// everlong/mastra: endless conversations for Mastra, as a processor that reduces the prompt of each call and recovers after an
// overflow. The reduced prompt is not persisted, so Mastra's memory keeps the originals. The types of Mastra that are used are
// described here instead of imported.
import { type AdapterOptions, type AdapterSessions, adapterSessions } from './adapter-sessions.ts'
import { type AiHistory, type AiHistoryOf, aiHistories, requestInput, summarizerOf } from './adapters/ai-sdk/call.ts'
import type { Generating } from './adapters/ai-sdk/client.ts'
import { type AiMessage, aiSdkConverter, usageOf } from './adapters/ai-sdk/messages.ts'
import { isObject, type JsonObject, stringAt } from './core/message/json.ts'
import type { ModelClient } from './core/ports/model.ts'

/** Without `sessionId`, the conversation of a call is its thread. */
export type MastraOptions = AdapterOptions<MastraRequest<readonly object[]>> & {
  /** Writes the summaries. Default: the agent's model. */
  readonly model?: ModelClient
}

export type Mastra = AdapterSessions & {
  /** For `inputProcessors` and `errorProcessors` of an agent. */
  readonly processor: MastraProcessor
}

type RequestContext = { readonly get: (key: never) => unknown }

/** The part of the argument of `processLLMRequest` that is used here. */
type MastraRequest<Prompt> = {
  readonly prompt: Prompt
  readonly model: object
  readonly steps: readonly object[]
  /** Shared by all methods of this processor during one run. */
  readonly state: Record<string, unknown>
  readonly requestContext?: RequestContext
  readonly abortSignal?: AbortSignal
}

type MastraFailure = {
  readonly error: unknown
  readonly state: Record<string, unknown>
  readonly stepNumber: number
  readonly abortSignal?: AbortSignal
}

/** Fits `inputProcessors` and `errorProcessors` of an agent. */
type MastraProcessor = {
  readonly id: 'everlong'
  readonly name: string
  readonly processLLMRequest: <Prompt extends readonly object[]>(
    request: MastraRequest<Prompt>,
  ) => Promise<{ prompt: Prompt }>
  readonly processAPIError: (failure: MastraFailure) => Promise<{ retry: boolean } | undefined>
}

export function everlong({ model, ...options }: MastraOptions = {}): Mastra {
  const converter = aiSdkConverter('bare')
  const { historyOf, sessions } = adapterSessions<AiMessage, MastraRequest<readonly object[]>>(options, {
    converter,
    client: summarizerOf(model, { converter, takesMarks: true }),
    howToName: 'Call the agent with `memory: { thread, resource }`, or pass `sessionId` to everlong().',
  })
  return { processor: createProcessor(aiHistories({ converter, model, historyOf })), ...sessions }
}

function createProcessor(historyOf: AiHistoryOf<MastraRequest<readonly object[]>>): MastraProcessor {
  /** The conversation of a run, and the steps in which an overflow was recovered. */
  const runs = new WeakMap<Record<string, unknown>, { readonly history: AiHistory; readonly recovered: Set<number> }>()
  return {
    id: 'everlong',
    name: 'Everlong',
    processLLMRequest: async (request) => {
      const messages = request.prompt as unknown as readonly AiMessage[]
      const model = streamingModel(request.model)
      const call = { host: request, id: threadIn(request), messages, model, takesMarks: true }
      const { history, model: choice } = await historyOf(call)
      if (runs.get(request.state)?.history !== history) runs.set(request.state, { history, recovered: new Set() })
      const usage = usageOf((request.steps.at(-1) as JsonObject | undefined)?.usage)
      const base = requestInput(messages, {})
      const prepared = await history.prepare(messages, { base, model: choice, usage, signal: request.abortSignal })
      return { prompt: [...prepared.messages] as unknown as typeof request.prompt }
    },
    // Mastra calls processLLMRequest again before it retries, and that call sends the smaller prompt from here.
    processAPIError: async ({ error, state, stepNumber, abortSignal }) => {
      const run = runs.get(state)
      if (!run || run.recovered.has(stepNumber)) return undefined
      run.recovered.add(stepNumber)
      return (await run.history.recover(error, { signal: abortSignal })) ? { retry: true } : undefined
    },
  }
}

/** The thread, if Mastra's server or memory put it into the request context. */
function threadIn({ requestContext }: MastraRequest<readonly object[]>): string | undefined {
  const given = requestContext?.get('mastra__threadId' as never)
  if (typeof given === 'string') return given
  const memory = requestContext?.get('MastraMemory' as never)
  return isObject(memory) ? stringAt(memory.thread, 'id') : undefined
}

/** Mastra wraps models so that both of their methods stream. */
function streamingModel(model: object): Generating | undefined {
  const own = model as Partial<Generating>
  const { provider, modelId, doStream } = own
  if (provider === undefined || modelId === undefined || doStream === undefined) return undefined
  return { provider, modelId, streams: true, doGenerate: doStream.bind(model), doStream: doStream.bind(model) }
}
