// Next to the conversation: compactions, what is lost, sub-agents and cache misses.
import type { AgentLane, CompactionRow, LostData, WindowData } from '../../data/api.ts'
import { linkTo, withQuery } from '../address.ts'
import { count, counted, dateTime, dollars, duration, oneLine, short } from '../format.ts'
import { Link, sessionLink } from '../parts/link.tsx'
import { lostNames } from '../parts/names.ts'
import { Status } from '../parts/status.tsx'
import type { Loaded } from '../use-data.ts'

type CompactionsProps = {
  readonly id: string
  readonly rows: readonly CompactionRow[]
  readonly lost: LostData | undefined
}

export function Compactions({ id, rows, lost }: CompactionsProps) {
  if (rows.length === 0) return null
  const lostBy = (number: number) => lost?.facts.filter(({ compaction }) => compaction === number).length ?? 0
  return (
    <section className="card" aria-label="Compactions">
      <header>
        <h2>{counted(rows.length, 'compaction')}</h2>
      </header>
      <ul className="list">
        {rows.map((row) => (
          <li key={row.uuid}>
            <div className="row spread">
              <Link to={linkTo({ name: 'compaction', id, number: row.number })}>Compaction {row.number}</Link>
              <span className="row">
                {lostBy(row.number) > 0 ? <span className="chip bad">{lostBy(row.number)} lost</span> : null}
                {row.isUndone ? <span className="chip">undone</span> : null}
                {row.trigger === 'unknown' ? null : <span className="chip">{oneLine(row.trigger)}</span>}
              </span>
            </div>
            <div className="soft">
              {sizes(row)} · {dateTime(row.time)}
              {row.milliseconds === null ? '' : ` · ${duration(row.milliseconds)}`} ·{' '}
              <Link to={withQuery({ at: row.item })}>show in the conversation</Link>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function sizes({ tokensBefore, tokensAfter }: CompactionRow): string {
  if (tokensBefore === null && tokensAfter === null) return 'sizes unknown'
  const text = (tokens: number | null) => (tokens === null ? '?' : short(tokens))
  return `${text(tokensBefore)} → ${text(tokensAfter)} tokens`
}

const maxShown = 12

export function Lost({ loaded }: { readonly loaded: Loaded<LostData> }) {
  const { data } = loaded
  return (
    <section className="card" aria-label="Lost">
      <header>
        <h2>Lost</h2>
        {data ? <span className={data.facts.length > 0 ? 'bad' : 'good'}>{count(data.facts.length)}</span> : null}
      </header>
      {data ? <LostList data={data} /> : <Status of={loaded} what="what was lost" />}
    </section>
  )
}

function LostList({ data: { facts, doubts, unknown } }: { readonly data: LostData }) {
  return (
    <ul className="list">
      {unknown === null ? null : <li className="warn">{unknownInWords[unknown]}</li>}
      {facts.length === 0 && unknown === null ? <li className="soft">Nothing that code can tell.</li> : null}
      {facts.slice(0, maxShown).map((fact, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list keeps its order, and without content texts are equal
        <li key={at}>
          <span className="chip">{lostNames[fact.type]}</span>{' '}
          <Link to={withQuery({ at: fact.item ?? undefined, kind: undefined })} className="quote quiet">
            {oneLine(fact.text).slice(0, 200)}
          </Link>
          <div className="soft">
            {fact.about === null ? '' : `${oneLine(fact.about).slice(0, 120)} · `}
            line {count(fact.line)}, lost by compaction {fact.compaction}
          </div>
        </li>
      ))}
      {facts.length > maxShown ? <li className="soft">… and {count(facts.length - maxShown)} more</li> : null}
      {doubts.length > 0 ? (
        <li className="warn">
          The last summary makes {counted(doubts.length, 'claim')} that the session does not show.
        </li>
      ) : null}
    </ul>
  )
}

export const unknownInWords = {
  'unreadable-summary': 'The summary is encrypted or not recorded, so nobody can know what was lost.',
  'other-language': 'The summary is in another language, so only files and commands could be compared.',
} as const

export function Agents({ lanes }: { readonly lanes: readonly AgentLane[] }) {
  if (lanes.length === 0) return null
  const known = lanes.flatMap(({ cost }) => cost ?? [])
  const all = known.length === 0 ? '' : dollars(known.reduce((sum, cost) => sum + cost, 0))
  const [first, last] = [
    Math.min(...lanes.flatMap(({ from }) => from ?? [])),
    Math.max(...lanes.flatMap(({ to }) => to ?? [])),
  ]
  return (
    <section className="card" aria-label="Sub-agents">
      <header>
        <h2>{counted(lanes.length, 'sub-agent')}</h2>
        <span className="soft">{all}</span>
      </header>
      <ul className="list">
        {lanes.map((lane) => (
          <li key={lane.id}>
            <div className="row spread">
              <span className="one-line">
                {lane.session === null ? (
                  oneLine(lane.name)
                ) : (
                  <Link to={sessionLink(lane.session)}>{oneLine(lane.name)}</Link>
                )}
              </span>
              <span className="soft">{lane.cost === null ? '' : dollars(lane.cost)}</span>
            </div>
            <Lane lane={lane} first={first} last={last} />
            <div className="soft">
              {lane.kind === 'compaction' ? 'the run of a compaction, ' : ''}
              {counted(lane.entries, 'record')}
              {lane.item === null ? '' : ' · '}
              {lane.item === null ? null : <Link to={withQuery({ at: lane.item })}>started here</Link>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** When it ran, between the first and the last of all. */
function Lane({ lane, first, last }: { readonly lane: AgentLane; readonly first: number; readonly last: number }) {
  if (lane.from === null || lane.to === null || last <= first) return null
  const share = (time: number) => ((time - first) / (last - first)) * 100
  return (
    <svg className="lane" viewBox="0 0 100 4" preserveAspectRatio="none" width="100%" height="4" aria-hidden="true">
      <rect
        className="fill-assistant"
        x={share(lane.from)}
        width={Math.max(1, share(lane.to) - share(lane.from))}
        height="4"
      />
    </svg>
  )
}

export function Misses({ window }: { readonly window: WindowData | undefined }) {
  if (!window || window.misses.length === 0) return null
  const cost = window.misses.reduce((sum, miss) => sum + (miss.cost ?? 0), 0)
  return (
    <section className="card" aria-label="Cache misses">
      <header>
        <h2>{counted(window.misses.length, 'cache miss', 'cache misses')}</h2>
        <span className="soft">{dollars(cost)}</span>
      </header>
      <ul className="list">
        {window.misses.map((miss) => (
          <li key={miss.point}>
            <div className="row spread">
              <Link to={withQuery({ at: window.items[miss.point] })}>{short(miss.tokens)} tokens written again</Link>
              <span className="soft">{dollars(miss.cost)}</span>
            </div>
            <div className="soft">{miss.reasons.map(oneLine).join('; ')}</div>
          </li>
        ))}
      </ul>
    </section>
  )
}
