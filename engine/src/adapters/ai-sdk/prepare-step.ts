// Everlong as a `prepareStep`: each step gets the reduced messages, which the SDK carries forward to the next. Messages that stay
// are the SDK's own objects, so steering messages count as delivered.
import type { ModelMessage, PrepareStepFunction } from 'ai'
import { isObject, type JsonObject } from '../../core/message/json.ts'
import type { EngineSettings } from '../../core/settings/table.ts'
import { withMethods } from '../with-methods.ts'
import { type AiHistory, type AiHistoryOf, hasMarks, requestInput } from './call.ts'
import type { Generating } from './client.ts'
import { type AiMessage, isSystem, marked, usageOf } from './messages.ts'

type StepOptions = Parameters<PrepareStepFunction<never>>[0]
/** The part of a step's options that is used here, so that the function fits any set of tools. */
export type Step = Pick<StepOptions, 'messages' | 'model' | 'instructions' | 'runtimeContext'> & {
  readonly steps: readonly { readonly usage: unknown }[]
}

/** Returns the step's own model, wrapped so that it also reports the usage of its answers. */
export type PrepareStep = (step: Step) => Promise<{ messages: ModelMessage[]; model?: StepOptions['model'] }>

export type StepMarks = NonNullable<EngineSettings['cacheMarks']>

export function createPrepareStep(historyOf: AiHistoryOf<Step>, marks: StepMarks): PrepareStep {
  return async (step) => {
    const messages = step.messages as unknown as readonly AiMessage[]
    const modelName = typeof step.model === 'string' ? step.model : undefined
    const model = generatingModel(step.model)
    const { history, model: choice } = await historyOf({ host: step, messages, model, modelName })
    const usage = usageOf(step.steps.at(-1)?.usage)
    const system = instructionsText(step.instructions)
    const base = { ...requestInput(messages, {}), ...(system === '' ? {} : { system }) }
    const prepared = await history.prepare(messages, { base, model: choice, usage })
    const reduced = [...prepared.messages] as unknown as ModelMessage[]
    return model
      ? { messages: reduced, model: reporting(model, history, marks) as StepOptions['model'] }
      : { messages: reduced }
  }
}

function generatingModel(model: unknown): Generating | undefined {
  return isObject(model) && typeof model.doGenerate === 'function' ? (model as unknown as Generating) : undefined
}

/**
 * No step gets the usage of the last step of a run, so the model reports it. It also sets the marks for the prompt cache, because
 * the messages of the steps are the SDK's own objects and must stay unmarked.
 */
function reporting(model: Generating, history: AiHistory, marks: StepMarks): object {
  const report = (usage: unknown) => history.reportUsage(usageOf(usage))
  const stream = model.doStream?.bind(model)
  return withMethods(model, {
    doGenerate: async (call: never) => {
      const result = await model.doGenerate(withMarks(call, marks))
      report((result as JsonObject).usage)
      return result
    },
    doStream:
      stream &&
      (async (call: never) => {
        const result = (await stream(withMarks(call, marks))) as { readonly stream: ReadableStream<JsonObject> }
        const reports = new TransformStream<JsonObject, JsonObject>({
          transform: (part, controller) => {
            if (part.type === 'finish') report(part.usage)
            controller.enqueue(part)
          },
        })
        return { ...result, stream: result.stream.pipeThrough(reports) }
      }),
  })
}

/** Marks the system prompt and the newest two messages that are not the model's, unless the host has set marks. */
function withMarks(call: never, lifetime: StepMarks): never {
  const { prompt, ...params } = call as JsonObject & { readonly prompt: readonly AiMessage[] }
  if (lifetime === false || hasMarks({ messages: prompt, params })) return call
  const mark = { type: 'ephemeral', ...(lifetime === '1h' ? { ttl: '1h' } : {}) }
  const system = prompt.findLastIndex(isSystem)
  const others = prompt.flatMap((message, at) => (isSystem(message) || message.role === 'assistant' ? [] : [at]))
  const places = new Set([system, ...others.slice(-2)])
  return { ...params, prompt: prompt.map((message, at) => (places.has(at) ? marked(message, mark) : message)) } as never
}

/** A text, one system message, or several. */
function instructionsText(instructions: unknown): string {
  if (typeof instructions === 'string') return instructions
  if (Array.isArray(instructions)) return instructions.map(instructionsText).join('\n\n')
  return isObject(instructions) ? instructionsText(instructions.content) : ''
}
