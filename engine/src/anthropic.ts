// everlong/anthropic: the client for the Messages API, and middleware for the official SDK, an optional peer. By default sessions
// are in memory, and the caller's own model writes the summaries through the caller's own client.
import { type AdapterOptions, type AdapterSessions, adapterSessions } from './adapter-sessions.ts'
import { messageConversion } from './adapters/anthropic/messages.ts'
import {
  type AnthropicMiddleware,
  type Channel,
  clientOver,
  createMiddleware,
  type MessagesCall,
  sessionHeader,
} from './adapters/anthropic/middleware.ts'
import { runTools, type ToolRunnerLike } from './adapters/anthropic/tool-runner.ts'
import type { ModelClient } from './core/ports/model.ts'
import { anthropic, fromCatalog } from './models/anthropic/client.ts'

export type { MessagesCall } from './adapters/anthropic/middleware.ts'
export { HistoryMismatchError } from './adapters/history/managed-history.ts'
export { type AnthropicOptions, anthropic } from './models/anthropic/client.ts'

/** Without `sessionId`, a call names its conversation in the header `everlong-session`, which is not sent to the API. */
export type AnthropicSdkOptions = AdapterOptions<MessagesCall> & {
  /** Writes the summaries. Default: the model of the call, through the client with the middleware. */
  readonly model?: ModelClient
}

export type AnthropicSdk = AdapterSessions & {
  /** For `new Anthropic({ middleware: [middleware] })`. */
  readonly middleware: AnthropicMiddleware
  /**
   * Yields the results of a tool runner, and replaces the runner's messages with those of the next request. Create the runner
   * with `thread: false`, because a message thread is on the server, where nothing can be reduced. Needs `model`, unless the
   * runner's client has the middleware.
   */
  readonly runTools: <Reply>(
    runner: ToolRunnerLike<Reply>,
    options?: { readonly sessionId?: string },
  ) => AsyncGenerator<Reply, void>
}

export function everlong({ model, ...options }: AnthropicSdkOptions = {}): AnthropicSdk {
  const own = ownClient()
  const client = model ?? own.client
  const { converter, unmarked } = messageConversion()
  const { historyOf, sessions } = adapterSessions(options, { converter, howToName, client: model })
  const asksCalled = !model
  return {
    middleware: createMiddleware({
      historyOf,
      unmarked,
      asksCalled,
      clientFor: (name, channel) => {
        own.use(name, channel)
        return client
      },
    }),
    runTools: (runner, { sessionId: id } = {}) =>
      runTools(runner, {
        unmarked,
        historyOf: (messages, name) => {
          const host = { url: '', headers: new Headers(id ? { [sessionHeader]: id } : {}), body: { ...runner.params } }
          return historyOf({ host, id, messages, client: () => model ?? own.required(), model: name, asksCalled })
        },
      }),
    ...sessions,
  }
}

const howToName =
  'Send it with `{ headers: { "everlong-session": chat.id } }`, or pass `sessionId` to everlong(), a string or a function of the request; for runTools(), `runTools(runner, { sessionId })`.'

/** Our client over the newest call. */
function ownClient() {
  let newest: Channel | undefined
  let model = ''
  const channel = (): Channel => {
    if (!newest) {
      throw new Error(
        'everlong(): no request went through the middleware yet, so there is no client to write a summary with. Give `new Anthropic({ middleware })` the middleware, or pass `model` to everlong().',
      )
    }
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
  }
  return {
    client,
    /** Throws if there was no call yet. */
    required: (): ModelClient => channel() && client,
    use: (name: string, current: Channel) => {
      model = name
      newest = current
    },
  }
}
