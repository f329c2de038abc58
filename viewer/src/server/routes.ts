// From the path of a request to a question for the reader.
import type { Question } from './reader.ts'

export type Route =
  | { readonly type: 'question'; readonly question: Question }
  | { readonly type: 'overview'; readonly since: number }
  | { readonly type: 'events'; readonly session: string | undefined }
  | { readonly type: 'undo'; readonly session: string; readonly uuid: string }
  | { readonly type: 'unknown' }

const unknown = { type: 'unknown' } as const

/** `path` begins with `/api/`. */
export function routeOf({ pathname, searchParams }: URL): Route {
  const [, , first, session = '', part, name, more] = pathname.split('/')
  if (first === 'overview') return { type: 'overview', since: numberOf(searchParams, 'since') }
  if (first === 'events') return { type: 'events', session: searchParams.get('session') ?? undefined }
  if (first === 'search') return asked({ type: 'search', words: searchParams.get('words') ?? '' })
  if (first !== 'sessions' || !/^[0-9a-f]{16}$/.test(session)) return unknown
  switch (part) {
    case undefined:
      return asked({ type: 'session', session })
    case 'lost':
    case 'window':
    case 'agents':
      return asked({ type: part, session })
    case 'find':
      return asked({ type: 'find', session, words: searchParams.get('words') ?? '' })
    case 'place':
      return asked({ type: 'place', session, uuid: searchParams.get('uuid') ?? '' })
    case 'undo':
      return { type: 'undo', session, uuid: searchParams.get('uuid') ?? '' }
    case 'items':
      return name === undefined
        ? asked({
            type: 'items',
            session,
            from: numberOf(searchParams, 'from'),
            count: numberOf(searchParams, 'count'),
          })
        : withNumber(name, (item) => ({ type: 'item', session, item }))
    case 'compactions':
      if (more !== undefined && more !== 'alternative') return unknown
      return withNumber(name, (number) => ({ type: more ?? 'compaction', session, number }))
    default:
      return unknown
  }
}

function asked(question: Question): Route {
  return { type: 'question', question }
}

function withNumber(text: string | undefined, make: (value: number) => Question): Route {
  return text !== undefined && /^\d{1,9}$/.test(text) ? asked(make(Number(text))) : unknown
}

function numberOf(params: URLSearchParams, name: string): number {
  const text = params.get(name) ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : 0
}
