// Everlong as a processor of Mastra: the prompt of each call is reduced before it is sent, and not persisted, so Mastra's
// memory keeps the originals. Mastra's types are not imported: they are described here as far as they are used.
import { isObject, type JsonObject, stringAt } from '../../core/message/json.ts'
import { type AiHistory, type AiHistoryOf, requestInput } from '../ai-sdk/call.ts'
import type { Generating } from '../ai-sdk/client.ts'
import { type AiMessage, usageOf } from '../ai-sdk/messages.ts'

type RequestContext = { readonly get: (key: never) => unknown }

/** What Mastra hands to `processLLMRequest`, as far as it is used here. */
export type MastraRequest<Prompt> = {
  readonly prompt: Prompt
  readonly model: object
  readonly steps: readonly object[]
  /** Shared by all methods of this processor during one run. */
  readonly state: Record<string, unknown>
  readonly requestContext?: RequestContext
  readonly abortSignal?: AbortSignal
}

export type MastraFailure = {
  readonly error: unknown
  readonly state: Record<string, unknown>
  readonly stepNumber: number
  readonly abortSignal?: AbortSignal
}

/** Fits `inputProcessors` and `errorProcessors` of an agent. */
export type MastraProcessor = {
  readonly id: 'everlong'
  readonly name: string
  readonly processLLMRequest: <Prompt extends readonly object[]>(
    request: MastraRequest<Prompt>,
  ) => Promise<{ prompt: Prompt }>
  readonly processAPIError: (failure: MastraFailure) => Promise<{ retry: boolean } | undefined>
}

export function createProcessor(historyOf: AiHistoryOf<MastraRequest<readonly object[]>>): MastraProcessor {
  /** The conversation of a run, and the steps in which an overflow was recovered. */
  const runs = new WeakMap<Record<string, unknown>, { readonly history: AiHistory; readonly recovered: Set<number> }>()
  return {
    id: 'everlong',
    name: 'Everlong',
    processLLMRequest: async (request) => {
      const messages = request.prompt as unknown as readonly AiMessage[]
      const model = streamingModel(request.model)
      const history = await historyOf({ host: request, id: threadIn(request), messages, model, takesMarks: true })
      if (runs.get(request.state)?.history !== history) runs.set(request.state, { history, recovered: new Set() })
      const usage = usageOf((request.steps.at(-1) as JsonObject | undefined)?.usage)
      const base = requestInput(messages, {})
      const prepared = await history.prepare(messages, { base, usage, signal: request.abortSignal })
      return { prompt: [...prepared.messages] as unknown as typeof request.prompt }
    },
    // Mastra calls processLLMRequest again before it retries, which then sends what was made smaller here.
    processAPIError: async ({ error, state, stepNumber, abortSignal }) => {
      const run = runs.get(state)
      if (!run || run.recovered.has(stepNumber)) return undefined
      run.recovered.add(stepNumber)
      return (await run.history.recover(error, { signal: abortSignal })) ? { retry: true } : undefined
    },
  }
}

/** The thread, if Mastra's server or memory put it into the context of the request. */
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
