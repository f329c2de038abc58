// The sessions of level 3: each conversation has an engine session of its own, whose edits say what its requests leave out. They are
// stored, so that what was left out once is left out again in the same bytes, also after a restart.
import type { EngineEvent } from 'everlong'
import { type AnthropicSdk, everlong } from 'everlong/anthropic'
import type { SessionStore } from 'everlong/stores'
import { plainId } from '../identify/client-ids.ts'
import type { Conversation } from '../identify/identify.ts'

export type Managed = {
  /** The part that stands between a request and the upstream, for this conversation only: a summary is asked for with the
   * credential of the conversation's own newest request. */
  readonly middlewareOf: (conversation: Pick<Conversation, 'tenant' | 'session'>) => AnthropicSdk['middleware']
  readonly close: () => Promise<void>
}

export type ManagedOptions = {
  readonly storeOf: (tenant: string) => SessionStore
  /** Conversations that are open at the same time. */
  readonly max: number
  readonly onEvent: (tenant: string, event: EngineEvent) => void
}

/**
 * Only what can be replayed: the server is asked for nothing, the client's cache marks stay its own, and a conversation whose
 * thinking is bound to what came before is left as it is.
 */
const settings = {
  cacheMarks: false,
  reductions: { boundThinking: 'decline', byCacheEdit: { trigger: Number.MAX_SAFE_INTEGER } },
  summary: { boundThinking: 'decline', offline: 'overflow' },
} as const

export function createManaged({ storeOf, max, onEvent }: ManagedOptions): Managed {
  const open = new Map<string, AnthropicSdk>()
  return {
    middlewareOf: ({ tenant, session }) => {
      const name = JSON.stringify([tenant, session])
      const found =
        open.get(name) ??
        everlong({
          ...{ settings, environment: {}, store: storeOf(tenant), sessionId: plainId(session), maxConversations: 1 },
          onEvent: (event) => onEvent(tenant, event),
        })
      open.delete(name)
      open.set(name, found)
      const [oldest] = open
      if (open.size > max && oldest) {
        open.delete(oldest[0])
        void oldest[1].close()
      }
      return found.middleware
    },
    close: async () => {
      for (const one of open.values()) await one.close()
      open.clear()
    },
  }
}
