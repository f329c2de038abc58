// everlong/anthropic: the client for the Messages API, and middleware for the official SDK, an optional peer, with everything it
// needs by default: sessions in memory, and summaries asked of the caller's own model with the caller's own client.
import { adapterSessions, type UnnamedAdapterOptions } from './adapter-sessions.ts'
import { type MessageParam, messageConversion } from './adapters/anthropic/messages.ts'
import {
  type AnthropicMiddleware,
  type Channel,
  clientOver,
  createMiddleware,
  type MessagesCall,
} from './adapters/anthropic/middleware.ts'
import { runTools as runWith, type ToolRunnerLike } from './adapters/anthropic/tool-runner.ts'
import type { ModelClient } from './core/ports/model.ts'
import { anthropic, fromCatalog } from './models/anthropic/client.ts'

export { HistoryMismatchError } from './adapters/history/managed-history.ts'
export { type AnthropicOptions, anthropic } from './models/anthropic/client.ts'

export type AnthropicMiddlewareOptions = UnnamedAdapterOptions<MessagesCall> & {
  /** Writes the summaries. Left out: the model of the call, through the client that the middleware belongs to. */
  readonly model?: ModelClient
}

/** For `new Anthropic({ middleware: [everlong()] })`. */
export function everlong({ model, ...options }: AnthropicMiddlewareOptions = {}): AnthropicMiddleware {
  const own = ownClient()
  const client = model ?? own.client
  const { converter, unmarked } = messageConversion()
  const { historyOf } = adapterSessions(options, {
    converter,
    howToName:
      'Pass `sessionId` to everlong(): a string, or a function of the request, for example of one of its headers.',
  })
  return createMiddleware({
    historyOf: (call, messages, name) => historyOf(call, messages, () => ({ client, model: name, asksCalled: !model })),
    unmarked,
    modelFor: (name, channel) => {
      own.use(name, channel)
      return options.session ? undefined : { client, name }
    },
  })
}

export type RunToolsOptions = UnnamedAdapterOptions<undefined> & {
  /** Writes the summaries. */
  readonly model: ModelClient
}

/**
 * Yields what the runner yields, and replaces the runner's messages with what the next request needs. Create the runner
 * with `thread: false`: a message thread lies on the server, where nothing can be reduced.
 */
export function runTools<Reply>(
  runner: ToolRunnerLike<Reply>,
  { model, ...options }: RunToolsOptions,
): AsyncGenerator<Reply, void> {
  const { converter, unmarked } = messageConversion()
  const { historyOf, close } = adapterSessions<MessageParam, undefined>(options, {
    converter,
    howToName: 'Pass `sessionId` to runTools().',
  })
  return runWith(runner, {
    historyOf: (messages, name) => historyOf(undefined, messages, () => ({ client: model, model: name })),
    unmarked,
    close,
  })
}

/** Our client over the newest call. */
function ownClient() {
  let newest: Channel | undefined
  let model = ''
  const channel = (): Channel => {
    if (!newest) throw new Error('No request has been sent yet, so there is no client for a summary.')
    return newest
  }
  const made = (): ModelClient => anthropic({ model, client: clientOver(channel) })
  const client: ModelClient = {
    provider: 'anthropic',
    get model() {
      return model
    },
    capabilities: fromCatalog,
    send: (request, send) => made().send(request, send),
    count: async (request, send) => (await made().count?.(request, send)) ?? noCount,
  }
  return {
    client,
    use: (name: string, current: Channel) => {
      model = name
      newest = current
    },
  }
}

const noCount = { type: 'failed', reason: 'refused', message: 'The client cannot count.', tries: 0 } as const
