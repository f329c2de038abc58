// The sessions of level 3: each conversation has an engine session of its own, whose edits say what its requests leave out. They are
// stored, so that what was left out once is left out again in the same bytes, also after a restart.
import type { EngineEvent } from 'everlong'
import { type AnthropicSdk, everlong } from 'everlong/anthropic'
import type { SessionStore } from 'everlong/stores'
import { plainId } from '../identify/client-ids.ts'
import type { Conversation } from '../identify/identify.ts'
import { whenFree } from '../transcripts/held.ts'

export type Managed = {
  /** Whoever uses a conversation calls `release` when its answer has ended. */
  readonly use: (conversation: Pick<Conversation, 'tenant' | 'session'>) => Using
  readonly close: () => Promise<void>
}

export type Using = {
  /**
   * The part that stands between a request and the upstream, for this conversation only: a summary is asked for with the
   * credential of the conversation's own newest request.
   */
  readonly middleware: AnthropicSdk['middleware']
  readonly release: () => Promise<void>
}

export type ManagedOptions = {
  readonly storeOf: (tenant: string) => SessionStore
  /** Conversations that are open at the same time. */
  readonly max: number
  /** Other processes use the same store, so a session is closed as soon as nobody uses it here. */
  readonly isShared: boolean
  readonly onEvent: (tenant: string, event: EngineEvent) => void
}

/** How long a request waits for a session that another process uses: longer than the lease of one that was killed. */
const waitMs = 15_000

/**
 * Only what can be replayed: the server is asked for nothing, the client's cache marks stay its own, and a conversation whose
 * thinking is bound to what came before is left as it is.
 */
const settings = {
  cacheMarks: false,
  reductions: { boundThinking: 'decline', byCacheEdit: { trigger: Number.MAX_SAFE_INTEGER } },
  summary: { boundThinking: 'decline', offline: 'overflow' },
} as const

type Opened = { readonly sdk: AnthropicSdk; users: number }

export function createManaged({ storeOf, max, isShared, onEvent }: ManagedOptions): Managed {
  const open = new Map<string, Opened>()
  const opened = ({ tenant, session }: Pick<Conversation, 'tenant' | 'session'>): Opened => {
    const store = isShared ? whenFree(storeOf(tenant), waitMs) : storeOf(tenant)
    const sdk = everlong({
      ...{ settings, environment: {}, store, sessionId: plainId(session), maxConversations: 1 },
      onEvent: (event) => onEvent(tenant, event),
    })
    return { sdk, users: 0 }
  }
  return {
    use: (conversation) => {
      const name = JSON.stringify([conversation.tenant, conversation.session])
      const found = open.get(name) ?? opened(conversation)
      found.users++
      open.delete(name)
      open.set(name, found)
      const [oldest] = open
      if (open.size > max && oldest) {
        open.delete(oldest[0])
        void oldest[1].sdk.close()
      }
      return {
        middleware: found.sdk.middleware,
        release: async () => {
          if (--found.users > 0 || !isShared) return
          if (open.get(name) === found) open.delete(name)
          await found.sdk.close()
        },
      }
    },
    close: async () => {
      for (const { sdk } of open.values()) await sdk.close()
      open.clear()
    },
  }
}
