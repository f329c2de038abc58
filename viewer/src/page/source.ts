// Where the page gets its data: the local server, a file that contains everything, or the browser itself.
import type {
  AgentLane,
  Alternative,
  CompactionData,
  FoundItems,
  Item,
  ItemPage,
  LostData,
  Overview,
  Place,
  SearchData,
  SessionData,
  Undone,
  WindowData,
} from '../data/api.ts'

export type Source = {
  /** What changed after this version; 0 means everything. */
  readonly overview: (since: number) => Promise<Overview>
  readonly session: (id: string) => Promise<SessionData>
  readonly lost: (id: string) => Promise<LostData>
  readonly window: (id: string) => Promise<WindowData>
  readonly agents: (id: string) => Promise<readonly AgentLane[]>
  readonly items: (id: string, from: number, count: number) => Promise<ItemPage>
  readonly item: (id: string, item: number) => Promise<Item>
  readonly find: (id: string, words: string) => Promise<FoundItems>
  readonly place: (id: string, uuid: string) => Promise<Place>
  readonly compaction: (id: string, number: number) => Promise<CompactionData>
  readonly alternative: (id: string, number: number) => Promise<Alternative>
  readonly search: (words: string) => Promise<SearchData>
  /** Undoes a compaction, or its undo. Only where the session can be written. */
  readonly undo?: (id: string, uuid: string) => Promise<void>
  /** Calls `listen` when the session or the list changed. Returns a function that stops it. */
  readonly listen: (session: string | undefined, listen: (event: 'session' | 'overview') => void) => () => void
  /** The session, if the source has no other and no list. */
  readonly only?: string
}

export class SourceError extends Error {}

/** The server of `everlong view`. */
export function httpSource(token: string): Source {
  const headers = { authorization: `Bearer ${token}` }
  const ask = async <T>(path: string, method: 'GET' | 'POST'): Promise<T> => {
    const answer = await fetch(path, { headers, method }).catch(() => {
      throw new SourceError('The server does not answer. Is `everlong view` still running?')
    })
    const body: unknown = await answer.json()
    if (!answer.ok) throw new SourceError((body as { readonly error: string }).error)
    return body as T
  }
  const get = <T>(path: string) => ask<T>(path, 'GET')
  const at = (id: string, rest = '') => `/api/sessions/${encodeURIComponent(id)}${rest}`
  return {
    overview: (since) => get(`/api/overview?since=${since}`),
    session: (id) => get(at(id)),
    lost: (id) => get(at(id, '/lost')),
    window: (id) => get(at(id, '/window')),
    agents: (id) => get(at(id, '/agents')),
    items: (id, from, count) => get(at(id, `/items?from=${from}&count=${count}`)),
    item: (id, item) => get(at(id, `/items/${item}`)),
    find: (id, words) => get(at(id, `/find?words=${encodeURIComponent(words)}`)),
    place: (id, uuid) => get(at(id, `/place?uuid=${encodeURIComponent(uuid)}`)),
    compaction: (id, number) => get(at(id, `/compactions/${number}`)),
    alternative: (id, number) => get(at(id, `/compactions/${number}/alternative`)),
    search: (words) => get(`/api/search?words=${encodeURIComponent(words)}`),
    undo: async (id, uuid) => {
      await ask<Undone>(at(id, `/undo?uuid=${encodeURIComponent(uuid)}`), 'POST')
    },
    listen: (session, listen) => listenTo(session, { headers, listen }),
  }
}

type Listening = {
  readonly headers: Readonly<Record<string, string>>
  readonly listen: (event: 'session' | 'overview') => void
}

/**
 * Not EventSource, which sends no header. Only while the page is visible: browsers allow six connections to a server, and further tabs
 * would wait forever. When the page is seen again, it is told that everything may have changed.
 */
function listenTo(session: string | undefined, listening: Listening): () => void {
  let abort: AbortController | undefined
  const update = () => {
    const isVisible = document.visibilityState === 'visible'
    if (isVisible === (abort !== undefined)) return
    abort?.abort()
    abort = isVisible ? new AbortController() : undefined
    if (abort) receive(session, listening, abort.signal).catch(() => undefined)
  }
  const onChange = () => {
    update()
    if (abort) for (const event of ['session', 'overview'] as const) listening.listen(event)
  }
  update()
  document.addEventListener('visibilitychange', onChange)
  return () => {
    document.removeEventListener('visibilitychange', onChange)
    abort?.abort()
  }
}

/** Ends quietly with the server: the next request of the page says that it is gone. */
async function receive(
  session: string | undefined,
  { headers, listen }: Listening,
  signal: AbortSignal,
): Promise<void> {
  const query = session === undefined ? '' : `?session=${encodeURIComponent(session)}`
  const answer = await fetch(`/api/events${query}`, { headers, signal })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    const events = (text + part.value).split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const [, name] = /^event: (\w+)/m.exec(event) ?? []
      if (name === 'session' || name === 'overview') listen(name)
    }
  }
}
