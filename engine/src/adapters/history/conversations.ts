// Which conversation a call belongs to. The host says so, with a session or an id; otherwise a call that continues a known
// history belongs to it, and every other history gets a session of its own, so that two people who begin alike never share one.
import { createMutex } from '../../core/session/queue.ts'
import type { Converter } from './converter.ts'
import { type AdapterSession, ManagedHistory } from './managed-history.ts'

/** Starts a session, or opens the one with this id. The history that it belongs to is known a little later. */
export type Start<Foreign> = (
  id: string | undefined,
  history: () => ManagedHistory<Foreign> | undefined,
) => Promise<AdapterSession>

export type ConversationsOptions<Foreign> = {
  readonly converter: Converter<Foreign>
  /** All calls belong to this session. */
  readonly session?: AdapterSession | undefined
  /** Starts a session, or opens the one with this id. */
  readonly start: (
    id: string | undefined,
    history: () => ManagedHistory<Foreign> | undefined,
  ) => Promise<AdapterSession>
  /** Conversations in memory. The one that was not used for longest is closed. */
  readonly most?: number | undefined
}

export type Conversations<Foreign> = {
  /** `start` is for sessions that depend on the call. */
  readonly of: (
    messages: readonly Foreign[],
    id?: string | undefined,
    start?: Start<Foreign>,
  ) => Promise<ManagedHistory<Foreign>>
  /** In order of use, the newest last. */
  readonly all: () => readonly ManagedHistory<Foreign>[]
  readonly close: () => Promise<void>
}

type Held<Foreign> = { readonly id: string | undefined; readonly history: ManagedHistory<Foreign> }

const usualMost = 100

export function createConversations<Foreign>(options: ConversationsOptions<Foreign>): Conversations<Foreign> {
  const { converter, session, start, most = usualMost } = options
  const mutex = createMutex(() => undefined)
  let held: readonly Held<Foreign>[] = session
    ? [{ id: undefined, history: new ManagedHistory({ converter, session }) }]
    : []

  const find = (messages: readonly Foreign[], id: string | undefined) => {
    if (session) return held[0]
    if (id !== undefined) return held.find((one) => one.id === id)
    return held.findLast((one) => one.id === undefined && one.history.isContinuedBy(messages))
  }
  const create = async (id: string | undefined, begin: Start<Foreign>): Promise<Held<Foreign>> => {
    let history: ManagedHistory<Foreign> | undefined
    const open = () => begin(id, () => history)
    history = new ManagedHistory({ converter, session: await open(), restart: open })
    return { id, history }
  }
  return {
    // One at a time, so that two first calls with the same id get the same session.
    of: (messages, id, begin = start) =>
      mutex.run(async () => {
        const found = find(messages, id) ?? (await create(id, begin))
        found.history.claim(messages)
        const others = held.filter((one) => one !== found)
        const gone = others.slice(0, Math.max(0, others.length + 1 - most))
        held = [...others.slice(gone.length), found]
        for (const { history } of gone) await history.close()
        return found.history
      }),
    all: () => held.map(({ history }) => history),
    // A session of the host's is the host's to close.
    close: () =>
      mutex.run(async () => {
        if (session) return
        for (const { history } of held) await history.close()
        held = []
      }),
  }
}
