// The middleware of everlong/anthropic with everything it needs by default: sessions in memory, and summaries asked of the
// caller's own model with the caller's own client.
import { type AdapterEngine, conversationsFor, type SessionChoice } from './adapters/adapter-options.ts'
import { clientOver } from './adapters/anthropic/channel.ts'
import { messageConversion } from './adapters/anthropic/messages.ts'
import {
  type AnthropicMiddleware,
  type Channel,
  createMiddleware,
  type MessagesCall,
} from './adapters/anthropic/middleware.ts'
import type { ModelClient } from './core/ports/model.ts'
import { createEngine, type EngineOptions } from './engine.ts'
import { fromCatalog } from './models/anthropic/capabilities.ts'
import { anthropic } from './models/anthropic/client.ts'

export type AnthropicMiddlewareOptions = SessionChoice<MessagesCall> &
  Omit<EngineOptions, 'model'> & {
    /** Starts the sessions, with its own model and settings; the other options of an engine are then unused. */
    readonly engine?: AdapterEngine
    /** Who writes summaries. Left out: the model of the call, through the client that the middleware belongs to. */
    readonly model?: ModelClient
  }

/** For `new Anthropic({ middleware: [everlong()] })`. */
export function everlong(options: AnthropicMiddlewareOptions = {}): AnthropicMiddleware {
  const { engine, session, sessionId, open, model, ...engineOptions } = options
  const own = ownClient()
  const client = model ?? own.client
  const { converter, unmarked } = messageConversion()
  const started = engine ?? createEngine({ ...engineOptions, model: client })
  const isHostsModel = engine !== undefined || session !== undefined
  return createMiddleware({
    conversations: conversationsFor(
      { engine: started, ...(session ? { session } : {}), ...(open ? { open } : {}) },
      converter,
    ),
    sessionId,
    unmarked,
    modelFor: (name, channel) => {
      own.use(name, channel)
      return isHostsModel ? undefined : { client, name }
    },
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
