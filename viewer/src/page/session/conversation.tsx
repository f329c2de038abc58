// The conversation: a virtual list over all items, with a filter by kind, find, and the place in the address.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { type FoundItems, type Item, itemLetters, type SessionData } from '../../data/api.ts'
import { go, withQuery } from '../address.ts'
import { count, counted } from '../format.ts'
import { useData, useSource } from '../use-data.ts'
import { ItemView } from './item.tsx'
import { SelectionBar, useSelection } from './selection.tsx'
import { useItems } from './use-items.ts'

export const kindFilters: readonly {
  readonly name: string
  readonly label: string
  readonly types: readonly Item['type'][]
}[] = [
  { name: '', label: 'All', types: [] },
  { name: 'talk', label: 'Messages', types: ['user', 'assistant', 'summary', 'compaction', 'agent'] },
  { name: 'user', label: 'User', types: ['user', 'agent'] },
  { name: 'results', label: 'Results', types: ['result'] },
  { name: 'compactions', label: 'Compactions', types: ['compaction', 'summary', 'edit'] },
]

/** The items that a filter shows. */
export function shownItems(types: string, kind: string): readonly number[] {
  const chosen = kindFilters.find(({ name }) => name === kind)?.types ?? []
  const letters = new Set<string>(chosen.map((type) => itemLetters[type]))
  const all = Array.from({ length: types.length }, (_, at) => at)
  return letters.size === 0 ? all : all.filter((at) => letters.has(types[at] ?? ''))
}

export type ConversationProps = {
  readonly id: string
  readonly session: SessionData
  readonly query: URLSearchParams
  readonly version: number
}

export function Conversation({ id, session, query, version }: ConversationProps) {
  const kind = query.get('kind') ?? ''
  const words = query.get('find') ?? ''
  const here = numberIn(query, 'at')
  const shown = useMemo(() => shownItems(session.types, kind), [session.types, kind])
  const scroll = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 76,
    overscan: 8,
    getItemKey: (at) => shown[at] ?? at,
  })
  const rows = list.getVirtualItems()
  const itemAt = useItems(
    id,
    rows.map(({ index }) => shown[index] ?? 0),
    version,
  )
  useJump({ here, shown, jump: (at) => list.scrollToIndex(at, { align: 'start' }) })
  useLastSeen(id, here, shown[rows[0]?.index ?? 0])
  const selection = useSelection(shown)
  return (
    <section className="card talk-area" aria-label="Conversation">
      <header>
        <Kinds kind={kind} />
        <Find id={id} words={words} here={here} />
        <SelectionBar id={id} selection={selection} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard */}
      <div className="scroll talk" ref={scroll} tabIndex={0} role="feed" aria-label="Messages" aria-busy={false}>
        <div className="virtual" style={{ height: list.getTotalSize() }}>
          {rows.map(({ key, index, start }) => {
            const number = shown[index] ?? 0
            const item = itemAt(number)
            return (
              <div
                key={key}
                data-index={index}
                ref={list.measureElement}
                style={{ transform: `translateY(${start}px)` }}
              >
                {item ? (
                  <ItemView session={id} item={item} words={words} isHere={number === here} selection={selection} />
                ) : (
                  <div className="item soft">{count(number + 1)} …</div>
                )}
              </div>
            )
          })}
        </div>
      </div>
    </section>
  )
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? ''
  return /^\d+$/.test(text) ? Number(text) : undefined
}

type Jump = {
  readonly here: number | undefined
  readonly shown: readonly number[]
  readonly jump: (at: number) => void
}

/** To the item that the address names, or the nearest one that the filter shows. */
function useJump({ here, shown, jump }: Jump): void {
  const key = here === undefined ? '' : `${here} ${shown.length}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new place is a reason to jump
  useEffect(() => {
    if (here === undefined) return
    const at = shown.findIndex((item) => item >= here)
    const place = at < 0 ? shown.length - 1 : at
    jump(place)
    // Heights are known only once items were drawn.
    const timers = [60, 250].map((wait) => setTimeout(() => jump(place), wait))
    return () => timers.forEach(clearTimeout)
  }, [key])
}

const seenKey = (id: string) => `everlong-seen ${id}`

/** The place that the person saw last, for the next visit. */
export function lastSeen(id: string): number | undefined {
  const text = localStorage.getItem(seenKey(id)) ?? ''
  return /^\d+$/.test(text) ? Number(text) : undefined
}

function useLastSeen(id: string, here: number | undefined, first: number | undefined): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      if (first !== undefined && first > 0) localStorage.setItem(seenKey(id), String(here ?? first))
    }, 800)
    return () => clearTimeout(timer)
  }, [id, here, first])
}

function Kinds({ kind }: { readonly kind: string }) {
  return (
    <fieldset className="tabs" aria-label="Which items">
      {kindFilters.map(({ name, label }) => (
        <button
          key={name}
          type="button"
          aria-pressed={kind === name}
          onClick={() => go(withQuery({ kind: name || undefined }), 'replace')}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}

type FindProps = { readonly id: string; readonly words: string; readonly here: number | undefined }

function Find({ id, words, here }: FindProps) {
  const source = useSource()
  const [text, setText] = useState(words)
  const nothing: FoundItems = { found: [], isComplete: true }
  const loaded = useData(`find ${id} ${words}`, async () => (words === '' ? nothing : source.find(id, words)))
  const { found, isComplete } = loaded.data ?? nothing
  const at = found.findIndex(({ item }) => item === here)
  const to = (place: number) => {
    const item = found[(place + found.length) % Math.max(1, found.length)]?.item
    if (item !== undefined) go(withQuery({ at: item, kind: undefined }), 'replace')
  }
  return (
    <search className="row">
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (text === words) to(at + 1)
          else go(withQuery({ find: text || undefined }), 'replace')
        }}
      >
        <input
          type="search"
          aria-label="Find in this session"
          placeholder="Find in this session"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
      {words === '' ? null : (
        <>
          <span className="soft" role="status">
            {loaded.data
              ? `${at >= 0 ? `${count(at + 1)} of ` : ''}${isComplete ? '' : 'the first '}${counted(found.length, 'item')}`
              : 'searching …'}
          </span>
          <button type="button" onClick={() => to(at < 0 ? -1 : at - 1)} aria-label="Previous match">
            ↑
          </button>
          <button type="button" onClick={() => to(at + 1)} aria-label="Next match">
            ↓
          </button>
        </>
      )}
    </search>
  )
}
