// Everlong as a `prepareStep`: each step gets the reduced messages, which the SDK carries forward to the next. The messages
// that stay are the SDK's own objects, so steering messages count as delivered.
import type { ModelMessage, PrepareStepFunction } from 'ai'
import { isObject } from '../../core/message/json.ts'
import type { Generating } from './client.ts'
import { type AiConversations, requestInput } from './conversations.ts'
import { type AiMessage, usageOf } from './messages.ts'

type StepOptions = Parameters<PrepareStepFunction<never>>[0]
/** As much of the options of a step as is used here, so that the function fits any set of tools. */
export type Step = Pick<StepOptions, 'messages' | 'model' | 'instructions' | 'runtimeContext'> & {
  readonly steps: readonly { readonly usage: unknown }[]
}

export type PrepareStep = (step: Step) => Promise<{ messages: ModelMessage[] }>

export function createPrepareStep(historyOf: AiConversations<Step>): PrepareStep {
  return async (step) => {
    const messages = step.messages as unknown as readonly AiMessage[]
    const modelName = typeof step.model === 'string' ? step.model : undefined
    const history = await historyOf(step, { messages, model: generatingModel(step.model), modelName })
    const usage = usageOf(step.steps.at(-1)?.usage)
    const system = instructionsText(step.instructions)
    const base = { ...requestInput(messages, {}), ...(system === '' ? {} : { system }) }
    const prepared = await history.prepare(messages, { base, usage })
    return { messages: [...prepared.messages] as unknown as ModelMessage[] }
  }
}

function generatingModel(model: unknown): Generating | undefined {
  return isObject(model) && typeof model.doGenerate === 'function' ? (model as unknown as Generating) : undefined
}

/** A text, one system message, or several. */
function instructionsText(instructions: unknown): string {
  if (typeof instructions === 'string') return instructions
  if (Array.isArray(instructions)) return instructions.map(instructionsText).join('\n\n')
  return isObject(instructions) ? instructionsText(instructions.content) : ''
}
