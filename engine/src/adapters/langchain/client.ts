// A chat model of LangChain as a model client. It writes the summaries, so that the host need not configure the same model twice.
// Its tokens stay out of the agent's stream.
import type { BaseMessage } from '@langchain/core/messages'
import { chatStopReason } from '../../core/message/chat-completions.ts'
import { numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import { isText, textOf } from '../../core/message/message.ts'
import { noTokens } from '../../core/message/usage.ts'
import { type ModelAnswer, type ModelClient, type ModelRequest, noCapabilities } from '../../core/ports/model.ts'
import { systemPorts } from '../../models/ports.ts'
import type { FailedTry } from '../../models/retry.ts'
import { createCaller, loadedOnce, type PerRequest } from '../../models/sdk.ts'
import { failedTry } from '../history/failure.ts'
import { type LangChainClasses, readLangChainMessage, usageOf, writeLangChainMessage } from './messages.ts'

/** The part of a chat model that is used here. */
export type ChatModelLike = { readonly invoke: (input: never, options?: never) => PromiseLike<unknown> }

/** LangChain is an optional peer. */
export function loadClasses(): () => Promise<LangChainClasses> {
  return loadedOnce('@langchain/core', () => import('@langchain/core/messages'))
}

/** LangGraph omits calls with this tag from message streams. */
const unstreamed = { tags: ['nostream'], metadata: { lc_source: 'summarization' } }

/** `model` returns the newest one, because an agent may change it between calls. */
export function chatModelClient(model: () => ChatModelLike, classes: () => Promise<LangChainClasses>): ModelClient {
  const call = createCaller({}, systemPorts)
  return {
    provider: 'langchain',
    get model() {
      return nameOf(model())
    },
    capabilities: () => {
      const window = numberAt(objectAt(model(), 'profile'), 'maxInputTokens')
      return { ...noCapabilities, ...(window === undefined ? {} : { window }) }
    },
    send: (request, send = {}) =>
      call(send, async (per) => attempt(withoutThinking(model()), await messagesOf(request, classes), per)),
  }
}

export function nameOf(model: unknown): string {
  return stringAt(model, 'model') ?? stringAt(model, 'modelName') ?? 'unknown'
}

/**
 * A summary needs no thinking, and Anthropic's API refuses it if earlier answers are sent without theirs. It is a field of the
 * model there, so the model is copied.
 */
function withoutThinking(model: ChatModelLike): ChatModelLike {
  const type = stringAt(objectAt(model, 'thinking'), 'type')
  if (type === undefined || type === 'disabled') return model
  const copy: ChatModelLike = Object.create(Object.getPrototypeOf(model))
  return Object.assign(copy, model, { thinking: { type: 'disabled' } })
}

async function messagesOf(
  request: ModelRequest,
  load: () => Promise<LangChainClasses>,
): Promise<readonly BaseMessage[]> {
  const classes = await load()
  const system = textOf(request.system)
  const messages = request.messages.flatMap((message) => writeLangChainMessage(message, classes))
  return system === '' ? messages : [new classes.SystemMessage({ content: system as never }), ...messages]
}

async function attempt(
  model: ChatModelLike,
  messages: readonly BaseMessage[],
  { signal }: PerRequest,
): Promise<ModelAnswer | FailedTry> {
  try {
    const answer = await model.invoke(messages as never, { ...unstreamed, signal } as never)
    return answerOf(answer as BaseMessage, nameOf(model))
  } catch (error) {
    return failedTry(error)
  }
}

function answerOf(message: BaseMessage, model: string): ModelAnswer {
  const { response_metadata: metadata, id = '' } = message
  const reason = stringAt(metadata, 'stop_reason') ?? stringAt(metadata, 'finish_reason') ?? 'end_turn'
  return {
    type: 'answer',
    id,
    model: stringAt(metadata, 'model') ?? model,
    content: readLangChainMessage(message).content.filter(isText),
    stopReason: chatStopReason(reason, false),
    usage: usageOf(message) ?? noTokens,
  }
}
