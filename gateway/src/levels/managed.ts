// The sessions of level 3: each conversation has its own engine session, whose edits record what its requests omit. They are
// stored, so that the same parts are omitted in the same bytes after a restart.
import type { EngineEvent } from 'everlong'
import { everlong } from 'everlong/anthropic'
import type { SessionStore } from 'everlong/stores'
import type { DialectName } from '../dialects/dialect.ts'
import { plainId } from '../identify/client-ids.ts'
import type { Conversation } from '../identify/identify.ts'
import { whenFree } from '../transcripts/held.ts'
import { openAiSdk } from './managed-openai.ts'
import type { ManagedSdk } from './managed-sdk.ts'

export type Managed = {
  /** Call `release` when the answer has ended. */
  readonly use: (conversation: ManagedConversation) => ManagedUse
  readonly close: () => Promise<void>
}

export type ManagedConversation = Pick<Conversation, 'tenant' | 'session'> & {
  readonly dialect: DialectName
  /** Called with the engine's events until another request uses the conversation. */
  readonly onEvent?: (event: EngineEvent) => void
}

export type ManagedUse = Pick<ManagedSdk, 'run'> & { readonly release: () => Promise<void> }

export type ManagedOptions = {
  readonly storeOf: (tenant: string) => SessionStore
  /** Maximum number of unused conversations that stay open. */
  readonly max: number
  /** Other processes use the same store, so a session is closed as soon as it is unused here. */
  readonly isShared: boolean
  /** How long a request waits for a session that another process uses. */
  readonly waitMs: number
  readonly onEvent: (tenant: string, event: EngineEvent) => void
}

/**
 * Only repeatable reductions: the server is asked for nothing, the client's cache marks stay its own, and a conversation whose
 * thinking is bound to its prefix is not changed.
 */
const settings = {
  cacheMarks: false,
  reductions: { boundThinking: 'decline', byCacheEdit: { trigger: Number.MAX_SAFE_INTEGER } },
  summary: { boundThinking: 'decline', offline: 'overflow' },
} as const

type Opened = { readonly sdk: ManagedSdk; users: number; onEvent: ManagedConversation['onEvent'] }

export function createManaged({ storeOf, max, isShared, waitMs, onEvent }: ManagedOptions): Managed {
  const open = new Map<string, Opened>()
  const opened = ({ tenant, session, dialect }: ManagedConversation): Opened => {
    const store = withoutPaths(isShared ? whenFree(storeOf(tenant), waitMs) : storeOf(tenant))
    const options = {
      ...{ settings, environment: {}, store, sessionId: plainId(session), maxConversations: 1 },
      onEvent: (event: EngineEvent) => {
        onEvent(tenant, event)
        made.onEvent?.(event)
      },
    }
    const { run, close } = dialect === 'messages' ? messagesSdk(options) : openAiSdk(dialect, options)
    const sdk: ManagedSdk = { close, run: inTurn(run) }
    const made: Opened = { sdk, users: 0, onEvent: undefined }
    return made
  }
  return {
    use: (conversation) => {
      const name = JSON.stringify([conversation.tenant, conversation.session, conversation.dialect])
      const found = open.get(name) ?? opened(conversation)
      found.users++
      found.onEvent = conversation.onEvent
      // Most recently used last.
      open.delete(name)
      open.set(name, found)
      return {
        run: found.sdk.run,
        release: async () => {
          if (--found.users > 0) return
          const idle = [...open].filter(([, { users }]) => users === 0)
          const closing = isShared ? [[name, found] as const] : idle.slice(0, Math.max(0, idle.length - max))
          for (const [closed] of closing) open.delete(closed)
          await Promise.all(closing.map(([, { sdk }]) => sdk.close()))
        },
      }
    },
    close: async () => {
      for (const { sdk } of open.values()) await sdk.close()
      open.clear()
    },
  }
}

/**
 * Until its answer begins, a request has the conversation to itself. The summary that it needs is asked for with the newest credential, which
 * is then its own; and if it is refused as too long, nobody has changed the conversation that it is made smaller from.
 */
function inTurn(run: ManagedSdk['run']): ManagedSdk['run'] {
  let last: Promise<unknown> = Promise.resolve()
  return (sending) => {
    const mine = last.then(() => run(sending))
    last = mine.catch(() => undefined)
    return mine
  }
}

function messagesSdk(options: NonNullable<Parameters<typeof everlong>[0]>): ManagedSdk {
  const { middleware, close } = everlong(options)
  return {
    close,
    run: ({ body, wire }) => {
      const given = { url: 'http://upstream/v1/messages', method: 'POST', headers: {}, body: JSON.stringify(body) }
      return middleware({ ...given, signal: wire.signal } as never, wire.next as never, wire.context as never)
    },
  }
}

/** A summary names the path of the transcript. The client cannot read it, and must not learn the gateway's folders. */
function withoutPaths(store: SessionStore): SessionStore {
  return {
    ...store,
    open: async (id, options) => {
      const opened = await store.open(id, options)
      return opened.type === 'opened' ? { ...opened, session: { ...opened.session, path: undefined } } : opened
    },
  }
}
