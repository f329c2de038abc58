// The prompt that the provider still has in its cache: what pi sent last. A request for a summary that begins with the very
// same messages is read from there at a tenth of the price.
import type { Message, ModelRequest } from 'everlong'
import { blocksOf, isText } from 'everlong/internal'
import type { View } from 'everlong/mechanisms'
import type { BoundaryContext, Model, ProviderMessage } from './pi-api.ts'

export type CachedPrompt = {
  /** Undefined unless the request begins with the messages of the view. */
  readonly messagesFor: (request: Pick<ModelRequest, 'messages'>) => readonly ProviderMessage[] | undefined
}

/** How long the provider keeps what pi sends: five minutes, or as long as the person asked pi for. */
export function cacheLifetime(env: NodeJS.ProcessEnv): number {
  return (env.PI_CACHE_RETENTION === 'long' ? 60 : 5) * 60_000
}

export type Sent = { readonly context: BoundaryContext; readonly model: string; readonly time: number }

/** Whether it pays: the provider reads its cache for less, and has not forgotten it. */
export function isCached(sent: Sent | undefined, model: Model, now: number): sent is Sent {
  const { input, cacheRead } = model.cost
  const isCheaper = cacheRead > 0 && cacheRead < input
  return isCheaper && sent !== undefined && sent.model === model.id && now - sent.time < cacheLifetime(process.env)
}

export function cachedPrompt({ context }: Sent, view: View): CachedPrompt {
  return {
    messagesFor: ({ messages }) => {
      const own = messages.findIndex((message, at) => message !== view.messages[at])
      const shared = own < 0 ? messages.length : own
      if (shared === 0) return undefined
      const cut = view.sources[shared]?.uuids[0]
      const length = cut === undefined ? context.llmMessages.length : lengthUpTo(context, cut)
      if (length === undefined) return undefined
      return [...context.llmMessages.slice(0, length), ...messages.slice(shared).map(asSaid)]
    },
  }
}

/** How many of the messages come before this entry; undefined where pi did not send it. */
function lengthUpTo({ contextEntries }: BoundaryContext, entry: string): number | undefined {
  const at = contextEntries.findIndex(({ sourceEntry }) => sourceEntry.id === entry)
  if (at < 0) return undefined
  const before = contextEntries.slice(0, at).flatMap(({ messages }) => messages)
  // Commands that a person ran with !! are in the session, but in no request.
  return before.filter(({ excludeFromContext }) => excludeFromContext !== true).length
}

function asSaid({ role, content }: Message): ProviderMessage {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : blocksOf(content).filter(isText)
  return { role, content: blocks.map(({ type, text }) => ({ type, text })), timestamp: Date.now() }
}
