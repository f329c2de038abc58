// All sessions: charts over time, filters, and a list that is quick with thousands of them.
import { useVirtualizer } from '@tanstack/react-virtual'
import { clippedAtWord } from 'everlong/internal'
import { useDeferredValue, useMemo, useRef, useState } from 'react'
import type { SearchMatch, SessionRow } from '../../data/api.ts'
import { go, withQuery } from '../address.ts'
import { bytes, counted, dateTime, dollars, oneLine, percent, short } from '../format.ts'
import { Link, sessionLink } from '../parts/link.tsx'
import { Remarks } from '../parts/remarks.tsx'
import { rowTitle } from '../parts/row-title.ts'
import { save } from '../parts/save.ts'
import { Status, WholeStatus } from '../parts/status.tsx'
import { Marked } from '../parts/text.tsx'
import { useData, useSource } from '../use-data.ts'
import { csvOf } from './csv.ts'
import { Days } from './days.tsx'
import { chosenRows, type Filter, filterOf, pathBelow, periodsOf, type SortKey, tokensOf } from './rows.ts'
import { useOverview } from './use-overview.ts'

export function Overview({ query }: { readonly query: URLSearchParams }) {
  const loaded = useOverview()
  const filter = useFilter(query)
  const everywhere = query.get('everywhere') ?? ''
  const sessions = loaded.data?.sessions ?? noSessions
  const chosen = useDeferredValue(filter)
  const rows = useMemo(() => chosenRows(sessions, chosen), [sessions, chosen])
  const periods = useMemo(() => periodsOf(rows), [rows])
  if (!loaded.data) return <WholeStatus of={loaded} what="the list of sessions" />
  const { read } = loaded.data
  return (
    <>
      <div className="row">
        <h1>Sessions</h1>
        <span className="soft grow" role="status">
          {read < sessions.length
            ? `${counted(sessions.length, 'session')}, ${counted(read, 'session')} read so far …`
            : counted(sessions.length, 'session')}
        </span>
        <button
          type="button"
          title="Of the sessions in the list: numbers, agents and models, no texts, titles or paths"
          onClick={() => save('sessions.csv', csvOf(rows))}
        >
          Download CSV
        </button>
      </div>
      <Days of={periods} />
      <section className="card">
        <header>
          <Filters filter={filter} sessions={sessions} />
          <SearchEverywhere words={everywhere} />
        </header>
        {everywhere === '' ? (
          <Rows rows={rows} filter={filter} roots={loaded.data.paths} isEmpty={sessions.length === 0} />
        ) : (
          <Matches words={everywhere} sessions={sessions} />
        )}
      </section>
    </>
  )
}

const noSessions: readonly SessionRow[] = []

/** The same object as long as the address says the same. */
function useFilter(query: URLSearchParams): Filter {
  const text = query.toString()
  return useMemo(() => filterOf(new URLSearchParams(text)), [text])
}

function Filters({ filter, sessions }: { readonly filter: Filter; readonly sessions: readonly SessionRow[] }) {
  const [agents, projects] = useMemo(() => {
    const valuesOf = (value: (row: SessionRow) => string | null | undefined) =>
      [...new Set(sessions.flatMap((row) => value(row) ?? []))].toSorted()
    return [valuesOf(({ facts }) => facts?.agent), valuesOf(({ facts }) => facts?.project)]
  }, [sessions])
  const set = (name: string, value: string) => go(withQuery({ [name]: value || undefined }), 'replace')
  return (
    <div className="row">
      <input
        type="search"
        aria-label="Filter by title, project or path"
        placeholder="Filter by title, project, path"
        size={30}
        defaultValue={filter.words}
        onChange={(event) => set('words', event.target.value)}
      />
      <select aria-label="Agent" value={filter.agent} onChange={(event) => set('agent', event.target.value)}>
        <option value="">All agents</option>
        {agents.map((agent) => (
          <option key={agent}>{agent}</option>
        ))}
      </select>
      <select aria-label="Project" value={filter.project} onChange={(event) => set('project', event.target.value)}>
        <option value="">All projects</option>
        {projects.map((project) => (
          <option key={project} value={project}>
            {oneLine(project).split('/').slice(-2).join('/')}
          </option>
        ))}
      </select>
      <select aria-label="Compactions" value={filter.only} onChange={(event) => set('only', event.target.value)}>
        <option value="">Compacted or not</option>
        <option value="compacted">Compacted</option>
        <option value="lost">Lost something</option>
      </select>
    </div>
  )
}

function SearchEverywhere({ words }: { readonly words: string }) {
  const [text, setText] = useState(words)
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault()
        go(withQuery({ everywhere: text.trim() || undefined }))
      }}
    >
      <input
        type="search"
        aria-label="Search everything that was said in all sessions"
        placeholder="Search all text"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit">Search</button>
      {words === '' ? null : (
        <button
          type="button"
          onClick={() => {
            setText('')
            go(withQuery({ everywhere: undefined }))
          }}
        >
          Back to the list
        </button>
      )}
    </form>
  )
}

function Matches({ words, sessions }: { readonly words: string; readonly sessions: readonly SessionRow[] }) {
  const source = useSource()
  const loaded = useData(`search ${words}`, () => source.search(words))
  if (!loaded.data) return <Status of={loaded} what="all text (the first search indexes it, which takes a while)" />
  const { matches, more } = loaded.data
  if (matches.length === 0) return <p className="message">Nothing was found. Try fewer or other words.</p>
  const titleOf = ({ session }: SearchMatch) => {
    const row = sessions.find(({ id }) => id === session)
    return row ? rowTitle(row) : ''
  }
  return (
    <ul className="list" aria-label="Matches">
      {matches.map((match) => (
        <li key={`${match.session} ${match.line} ${match.snippet}`}>
          <Link to={sessionLink(match.session, { uuid: match.uuid ?? undefined, find: words })}>
            {clippedAtWord(titleOf(match), 90)}
          </Link>
          <p className="quote">
            <Marked text={oneLine(match.snippet)} words={words} />
          </p>
          <Remarks of={[match.kind === 'human' ? 'user' : match.kind, `line ${match.line}`, dateTime(match.time)]} />
        </li>
      ))}
      {more ? <li className="soft">There are more. Add a word to narrow the search.</li> : null}
    </ul>
  )
}

const columns: readonly (readonly [key: SortKey, name: string, isNumber: boolean])[] = [
  ['title', 'Session', false],
  ['agent', 'Project, agent', false],
  ['cost', 'Price', true],
  ['tokens', 'Tokens', true],
  ['cached', 'Cached', true],
  ['compactions', 'Compacted', true],
  ['lost', 'Lost', true],
  ['bytes', 'Size', true],
  ['modified', 'Last message', true],
]

const lineHeight = 48

type RowsProps = {
  readonly rows: readonly SessionRow[]
  readonly filter: Filter
  readonly roots: readonly string[]
  /** There are no sessions at all. */
  readonly isEmpty: boolean
}

function noneFound(roots: readonly string[]): string {
  if (roots.length === 0) return 'No sessions were found.'
  return `No sessions were found in ${roots.map(oneLine).join(', ')}. They appear here when an agent starts one.`
}

function Rows({ rows, filter, roots, isEmpty }: RowsProps) {
  const scroll = useRef<HTMLDivElement>(null)
  const isNarrow = matchMedia('(max-width: 900px)').matches
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => (isNarrow ? 92 : lineHeight),
    overscan: 12,
  })
  const sort = (key: SortKey) =>
    go(withQuery({ sort: filter.sort === key ? `${filter.isReversed ? '' : '-'}${key}` : key }), 'replace')
  return (
    <div className="table">
      <div className="head">
        {columns.map(([key, name, isNumber]) => (
          <div key={key} className={isNumber ? 'number' : ''}>
            <button type="button" aria-pressed={filter.sort === key} onClick={() => sort(key)}>
              {name}
              {filter.sort === key ? (filter.isReversed ? ' ↑' : ' ↓') : ''}
            </button>
          </div>
        ))}
      </div>
      {rows.length === 0 ? (
        <p className="message">{isEmpty ? noneFound(roots) : 'No session fits these filters.'}</p>
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard */}
      <section className="scroll talk" ref={scroll} tabIndex={0} aria-label="Sessions">
        <div className="virtual" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ key, index, start, size }) => {
            const row = rows[index]
            return row ? (
              <div key={key} style={{ transform: `translateY(${start}px)`, height: size }}>
                <Row row={row} roots={roots} />
              </div>
            ) : null
          })}
        </div>
      </section>
    </div>
  )
}

function Row({ row, roots }: { readonly row: SessionRow; readonly roots: readonly string[] }) {
  const { facts, path, trouble } = row
  const project = oneLine(facts?.project ?? '')
    .split('/')
    .slice(-1)[0]
  return (
    <Link to={sessionLink(row.id)} className="line" title={oneLine(path)}>
      <div className="one-line">
        <div className="one-line">{rowTitle(row)}</div>
        <small className={trouble === null ? 'soft' : 'bad'}>{oneLine(trouble ?? pathBelow(roots, path))}</small>
      </div>
      <div className="one-line wide">
        <div className="one-line">{project}</div>
        <small className="soft">{facts?.agent}</small>
      </div>
      <div className="number">{facts ? costText(facts) : ''}</div>
      <div className="number wide">{facts ? short(tokensOf(row)) : ''}</div>
      <div className="number wide">{facts ? percent(facts.cachedShare) : ''}</div>
      <div className="number">{facts ? compactedText(facts.compactions) : ''}</div>
      <div className="number">
        {facts && facts.lost !== null && facts.lost > 0 ? <span className="chip bad">{facts.lost} lost</span> : ''}
      </div>
      <div className="number wide">{bytes(row.bytes)}</div>
      <div className="number soft">{dateTime(facts?.to ?? row.modified)}</div>
    </Link>
  )
}

function compactedText(compactions: number): string {
  return compactions === 0 ? '' : `${compactions} ×`
}

/** Without the models whose price is not known. */
function costText({ cost, withoutPrice, models }: NonNullable<SessionRow['facts']>): string {
  if (models.length === 0) return ''
  if (withoutPrice.length === models.length) return 'no price'
  return `${withoutPrice.length > 0 ? '≥ ' : ''}${dollars(cost)}`
}
