// The address of the page: the view, the place in it, and every filter. The Back button works.
import { useSyncExternalStore } from 'react'

export type View =
  | { readonly name: 'overview' }
  | { readonly name: 'session'; readonly id: string }
  | { readonly name: 'compaction'; readonly id: string; readonly number: number }

export type Address = { readonly view: View; readonly query: URLSearchParams }

export function addressOf(text: string): Address {
  const { pathname, searchParams } = new URL(text, 'http://page')
  const [, first, id = '', part, number = ''] = pathname.split('/')
  if (first !== 'session' || id === '') return { view: { name: 'overview' }, query: searchParams }
  if (part === 'compaction' && /^\d+$/.test(number))
    return { view: { name: 'compaction', id: decodeURIComponent(id), number: Number(number) }, query: searchParams }
  return { view: { name: 'session', id: decodeURIComponent(id) }, query: searchParams }
}

export type Query = Readonly<Record<string, string | number | undefined>>

export function linkTo(view: View, query: Query = {}): string {
  const path = {
    overview: () => '/',
    session: () => `/session/${encodeURIComponent('id' in view ? view.id : '')}`,
    compaction: () =>
      view.name === 'compaction' ? `/session/${encodeURIComponent(view.id)}/compaction/${view.number}` : '/',
  }[view.name]()
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') params.set(name, String(value))
  const text = params.toString()
  return text === '' ? path : `${path}?${text}`
}

/** An exported file has no paths of its own, so the address follows the #. */
const isFile = location.protocol === 'file:' || document.documentElement.dataset.address === 'fragment'

function current(): string {
  return isFile ? location.hash.slice(1) || '/' : `${location.pathname}${location.search}`
}

export function href(link: string): string {
  return isFile ? `#${link}` : link
}

const changed = 'everlong-address'

export function go(link: string, how: 'push' | 'replace' = 'push'): void {
  if (link === current()) return
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', href(link))
  dispatchEvent(new Event(changed))
}

/** The same view with some parts of the query changed; undefined removes one. */
export function withQuery(change: Query): string {
  const { view, query } = addressOf(current())
  return linkTo(view, { ...Object.fromEntries(query), ...change })
}

export function useAddress(): Address {
  const text = useSyncExternalStore(
    (listen) => {
      for (const name of ['popstate', 'hashchange', changed]) addEventListener(name, listen)
      return () => {
        for (const name of ['popstate', 'hashchange', changed]) removeEventListener(name, listen)
      }
    },
    () => current(),
  )
  return addressOf(text)
}
