// Which conversation a call belongs to. The host says so, with a session or an id; otherwise a call that continues a known
// history belongs to it, and every other history gets a session of its own, so that two people who begin alike never share one.
import type { ModelClient } from '../../core/ports/model.ts'
import { createMutex } from '../../core/session/queue.ts'
import type { Converter } from './converter.ts'
import { type AdapterSession, ManagedHistory } from './managed-history.ts'

/** What a new session needs to know of the call that starts it. */
export type Starting = {
  /** Writes the summaries. */
  readonly client: ModelClient
  /** The name of the model that is called. */
  readonly model: string
  /** Whether the client asks the model that is called, rather than one of its own. */
  readonly asksCalled?: boolean
  /** The host sets marks for the prompt cache itself: there may be four of them in all. */
  readonly hasMarks?: boolean
  /** Whether a summary can be asked for in a way that reads the conversation's cache: yes unless said. */
  readonly sharesCache?: boolean
}

/** The history of the conversation that starts is known a little later. */
type StartingOf<Foreign> = (history: () => ManagedHistory<Foreign> | undefined) => Starting

/** The conversation of a call, which is started if there is none. */
export type HistoryOf<Foreign, Call> = (
  call: Call,
  messages: readonly Foreign[],
  starting: StartingOf<Foreign>,
) => Promise<ManagedHistory<Foreign>>

export type ConversationsOptions<Foreign> = {
  readonly converter: Converter<Foreign>
  /** All calls belong to this session. */
  readonly session?: AdapterSession | undefined
  /** Starts a session, or opens the one with this id. */
  readonly start: (id: string | undefined, starting: Starting) => Promise<AdapterSession>
  /** Conversations in memory. The one that was not used for longest is closed. */
  readonly max?: number | undefined
}

type Held<Foreign> = { readonly id: string | undefined; readonly history: ManagedHistory<Foreign> }

const defaultMax = 100

export function createConversations<Foreign>({
  converter,
  session,
  start,
  max = defaultMax,
}: ConversationsOptions<Foreign>) {
  const mutex = createMutex(() => undefined)
  let held: readonly Held<Foreign>[] = session
    ? [{ id: undefined, history: new ManagedHistory({ converter, session }) }]
    : []

  const find = (messages: readonly Foreign[], id: string | undefined) => {
    if (session) return held[0]
    if (id !== undefined) return held.find((one) => one.id === id)
    return held.findLast((one) => one.id === undefined && one.history.isContinuedBy(messages))
  }
  const create = async (id: string | undefined, starting: StartingOf<Foreign>): Promise<Held<Foreign>> => {
    let history: ManagedHistory<Foreign> | undefined
    const open = () =>
      start(
        id,
        starting(() => history),
      )
    history = new ManagedHistory({ converter, session: await open(), restart: open })
    return { id, history }
  }
  return {
    // One at a time, so that two first calls with the same id get the same session.
    of: (messages: readonly Foreign[], id: string | undefined, starting: StartingOf<Foreign>) =>
      mutex.run(async () => {
        const found = find(messages, id) ?? (await create(id, starting))
        found.history.claim(messages)
        const others = held.filter((one) => one !== found)
        const gone = others.slice(0, Math.max(0, others.length + 1 - max))
        held = [...others.slice(gone.length), found]
        for (const { history } of gone) await history.close()
        return found.history
      }),
    /** In order of use, the newest last. */
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
