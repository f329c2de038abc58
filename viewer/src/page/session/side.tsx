// Next to the conversation: compactions, what is lost, sub-agents and cache misses.
import type { AgentLane, CompactionRow, LostData, WindowData } from '../../data/api.ts'
import { linkTo, withQuery } from '../address.ts'
import { count, counted, dateTime, dollars, duration, oneLine, short } from '../format.ts'
import { Link, sessionLink } from '../parts/link.tsx'
import { lostNames } from '../parts/names.ts'
import { Remarks } from '../parts/remarks.tsx'
import { ShortList } from '../parts/short-list.tsx'
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
      <ShortList of={rows} max={maxShown}>
        {(row) => (
          <li key={row.uuid}>
            <div className="row spread">
              <Link to={linkTo({ name: 'compaction', id, number: row.number })}>Compaction {row.number}</Link>
              <span className="row">
                {lostBy(row.number) > 0 ? <span className="chip bad">{lostBy(row.number)} lost</span> : null}
                {row.isUndone ? <span className="chip">undone</span> : null}
                {row.trigger === 'unknown' ? null : <span className="chip">{oneLine(row.trigger)}</span>}
              </span>
            </div>
            <Remarks
              of={[
                sizes(row),
                row.milliseconds === null ? '' : duration(row.milliseconds),
                dateTime(row.time),
                <Link key="place" to={withQuery({ at: row.item })}>
                  show in the conversation
                </Link>,
              ]}
            />
          </li>
        )}
      </ShortList>
    </section>
  )
}

export function sizes({ tokensBefore, tokensAfter }: CompactionRow): string {
  if (tokensBefore === null && tokensAfter === null) return 'sizes unknown'
  const text = (tokens: number | null) => (tokens === null ? '?' : short(tokens))
  return `${text(tokensBefore)} → ${text(tokensAfter)} tokens`
}

/** As many as fit next to the chart. */
const maxShown = 6

type LostProps = { readonly id: string; readonly loaded: Loaded<LostData>; readonly compactions: number }

export function Lost({ id, loaded, compactions }: LostProps) {
  const { data } = loaded
  return (
    <section className="card" aria-label="Lost">
      <header>
        <h2>Lost</h2>
        {data && data.facts.length > 0 ? <span className="chip bad">{count(data.facts.length)}</span> : null}
      </header>
      {compactions === 0 ? (
        <p className="empty">Nothing: this session was never compacted.</p>
      ) : data ? (
        <LostList id={id} data={data} last={compactions} />
      ) : (
        <Status of={loaded} what="what was lost" />
      )}
    </section>
  )
}

type LostListProps = { readonly id: string; readonly data: LostData; readonly last: number }

function LostList({ id, data: { facts, doubts, unknown }, last }: LostListProps) {
  return (
    <>
      {unknown === null ? null : <p className="empty warn">{unknownInWords[unknown]}</p>}
      {facts.length === 0 && unknown === null ? <p className="empty">{nothingGone}</p> : null}
      <ShortList of={facts} max={maxShown}>
        {(fact, at) => (
          <li key={at}>
            <span className="chip">{lostNames[fact.type]}</span>{' '}
            <Link to={withQuery({ at: fact.item ?? undefined, kind: undefined })} className="quote quiet">
              {oneLine(fact.text).slice(0, 200)}
            </Link>
            {fact.about === null ? null : <div className="soft quote">{oneLine(fact.about).slice(0, 120)}</div>}
            <Remarks
              of={[
                `line ${count(fact.line)}`,
                <Link key="compaction" to={linkTo({ name: 'compaction', id, number: fact.compaction })}>
                  lost by compaction {fact.compaction}
                </Link>,
              ]}
            />
          </li>
        )}
      </ShortList>
      {doubts.length > 0 ? (
        <p className="empty warn">
          <Link to={linkTo({ name: 'compaction', id, number: last }, { tab: 'doubts' })}>The last summary</Link> makes{' '}
          {counted(doubts.length, 'claim')} that the session does not support.
        </p>
      ) : null}
    </>
  )
}

export const nothingGone = 'Nothing that code can find: every rule, decision, request, failure and file is still there.'

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
      <ShortList of={lanes} max={maxShown}>
        {(lane) => (
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
            <Remarks
              of={[
                lane.kind === 'compaction' ? 'the run of a compaction' : '',
                counted(lane.entries, 'record'),
                lane.item === null ? null : (
                  <Link key="place" to={withQuery({ at: lane.item })}>
                    started here
                  </Link>
                ),
              ]}
            />
          </li>
        )}
      </ShortList>
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
      <ShortList of={window.misses} max={maxShown}>
        {(miss) => (
          <li key={miss.point}>
            <div className="row spread">
              <Link to={withQuery({ at: window.items[miss.point] })}>{short(miss.tokens)} tokens written again</Link>
              <span className="soft">{dollars(miss.cost)}</span>
            </div>
            <div className="soft">{miss.reasons.map(oneLine).join('; ')}</div>
          </li>
        )}
      </ShortList>
    </section>
  )
}
