// One session: the gauge, the window over time, the conversation, and what happened to it.
import { useEffect } from 'react'
import type { AgentLane, Gauge, LostData, SessionData, SessionFacts, WindowData } from '../../data/api.ts'
import { go, withQuery } from '../address.ts'
import { bytes, count, counted, dateTime, dollars, oneLine, percent, short } from '../format.ts'
import { Link, sessionLink } from '../parts/link.tsx'
import { Place } from '../parts/place.tsx'
import { rowTitle } from '../parts/row-title.ts'
import { type Figure, Figures, Status, WholeStatus } from '../parts/status.tsx'
import { type Loaded, useData, useSource, useVersion } from '../use-data.ts'
import { Legend, WindowChart } from './chart.tsx'
import { rangeOf } from './chart-shape.ts'
import { Conversation, lastSeen } from './conversation.tsx'
import { Agents, Compactions, Lost, Misses } from './side.tsx'

type SessionViewProps = { readonly id: string; readonly query: URLSearchParams }

export function SessionView({ id, query }: SessionViewProps) {
  const source = useSource()
  const version = useVersion(id)
  const session = useData(`session ${id}`, () => source.session(id), version)
  // Another thread of the server computes it, so the messages do not wait for it.
  const window = useData(`window ${id}`, () => source.window(id), version)
  useUuid(id, query)
  if (!session.data) return <WholeStatus of={session} what="the session" />
  return <Opened id={id} query={query} data={session.data} window={window} version={version} />
}

type OpenedProps = SessionViewProps & {
  readonly data: SessionData
  readonly window: Loaded<WindowData>
  readonly version: number
}

/** Asks for the rest once the session is there, so that its messages come first. */
function Opened({ id, query, data, window, version }: OpenedProps) {
  const source = useSource()
  const lost = useData(`lost ${id}`, () => source.lost(id), version)
  const agents = useData(`agents ${id}`, () => source.agents(id), version)
  return (
    <>
      <Place>
        <span className="one-line">{titleOf(data)}</span>
      </Place>
      <Head data={data} lanes={agents.data ?? []} lost={lost.data} />
      <div className="columns">
        <ContextCard data={data} window={window} lanes={agents.data ?? []} query={query} />
        <div className="side stack">
          <Seen id={id} data={data} query={query} />
          <Lost id={id} loaded={lost} compactions={data.compactions.length} />
          <Compactions id={id} rows={data.compactions} lost={lost.data} />
          <Misses window={window.data} />
          <Agents lanes={agents.data ?? []} />
        </div>
        <Conversation id={id} session={data} query={query} version={version} />
      </div>
    </>
  )
}

type ContextCardProps = {
  readonly data: SessionData
  readonly window: Loaded<WindowData>
  readonly lanes: readonly AgentLane[]
  readonly query: URLSearchParams
}

function ContextCard({ data, window, lanes, query }: ContextCardProps) {
  return (
    <section className="card" aria-label="The context over time">
      <header>
        <h2>Context over time</h2>
        <Legend data={window.data} compactions={data.compactions.length} />
      </header>
      <div className="body context">
        {window.data && window.data.totals.length > 0 ? (
          <WindowChart
            session={data}
            data={window.data}
            lanes={lanes}
            range={rangeOf(window.data.totals.length, query.get('from'), query.get('to'))}
            onRange={(range) => go(withQuery({ from: range?.from, to: range?.to }), 'replace')}
            onJump={(item) => go(withQuery({ at: item, kind: undefined }), 'replace')}
          />
        ) : window.data ? (
          <p className="message">No answer of this session reported how large its context was.</p>
        ) : (
          <Status of={window} what="the context over time" />
        )}
        {query.has('from') ? (
          <button type="button" onClick={() => go(withQuery({ from: undefined, to: undefined }), 'replace')}>
            Show all answers
          </button>
        ) : null}
      </div>
    </section>
  )
}

export function titleOf({ row }: SessionData): string {
  return rowTitle(row)
}

/** A search result names the entry; its item is looked up, once. */
function useUuid(id: string, query: URLSearchParams): void {
  const source = useSource()
  const uuid = query.get('uuid')
  useEffect(() => {
    if (uuid === null) return
    source.place(id, uuid).then(
      ({ item }) => go(withQuery({ uuid: undefined, at: item ?? undefined }), 'replace'),
      () => go(withQuery({ uuid: undefined }), 'replace'),
    )
  }, [source, id, uuid])
}

type HeadProps = {
  readonly data: SessionData
  readonly lanes: readonly AgentLane[]
  readonly lost: LostData | undefined
}

function Head({ data, lanes, lost }: HeadProps) {
  const { row, gauge, trouble, items } = data
  const { facts } = row
  const models = facts?.models.map(({ model }) => model).join(', ') ?? ''
  return (
    <>
      <div className="stack">
        <h1 className="quote two-lines" title={titleOf(data)}>
          {titleOf(data)}
        </h1>
        <p className="soft quote">
          {[facts?.agent, facts?.project, models, `${dateTime(facts?.from ?? null)} to ${dateTime(facts?.to ?? null)}`]
            .filter((part) => part)
            .map((part) => oneLine(part ?? ''))
            .join(' · ')}
        </p>
        <p className="soft quote mono">{oneLine(row.path)}</p>
      </div>
      {facts ? (
        <Figures
          of={[
            ['Price', dollars(facts.cost), priceRemark(facts, lanes)],
            ['Compactions', count(facts.compactions)],
            ...(facts.compactions === 0 ? [] : [lostFigure(lost)]),
            ['Messages', count(facts.messages), counted(facts.turns, 'turn')],
            ['Output', short(facts.tokens.output), 'tokens'],
            ['Read from cache', percent(facts.cachedShare)],
            ['Size', bytes(row.bytes), counted(items, 'item')],
          ]}
        />
      ) : null}
      {gauge ? <GaugeBar gauge={gauge} /> : <p className="warn">{trouble}</p>}
    </>
  )
}

function lostFigure(lost: LostData | undefined): Figure {
  if (lost === undefined) return ['Lost', '…']
  if (lost.unknown === 'unreadable-summary') return ['Lost', 'unknown']
  const { length } = lost.facts
  return ['Lost', count(length), length === 1 ? 'fact' : 'facts', length > 0 ? 'bad' : undefined]
}

function priceRemark({ withoutPrice }: SessionFacts, lanes: readonly AgentLane[]): string | undefined {
  const outside = lanes
    .filter(({ place, kind }) => place !== 'inside' && kind === 'agent')
    .flatMap(({ cost }) => cost ?? [])
  const remarks = [
    ...(withoutPrice.length > 0 ? ['in part'] : []),
    ...(outside.length > 0 ? [`+ ${dollars(outside.reduce((sum, cost) => sum + cost, 0))} sub-agents`] : []),
  ]
  return remarks.length === 0 ? undefined : remarks.join(', ')
}

const stateNames: Readonly<Record<Gauge['state'], string>> = {
  ok: '',
  warning: 'warning',
  error: 'nearly full',
  'over-threshold': 'compaction is due',
  blocking: 'full',
}

function GaugeBar({ gauge }: { readonly gauge: Gauge }) {
  const { size, marks, percentLeft, isAutoCompactOn, state } = gauge
  const limit = isAutoCompactOn ? marks.autoCompact : marks.effectiveWindow
  const share = Math.min(100, (size.tokens / limit) * 100)
  const fill = state === 'ok' ? 'fill-assistant' : state === 'warning' ? 'fill-results' : 'fill-files'
  const estimated = size.source === 'usage' ? '' : ', partly estimated'
  return (
    <section aria-label="The context now" className="stack">
      <div className="row spread">
        <span>
          <b>{count(size.tokens)}</b> of {count(gauge.window)} tokens in the context now{estimated}
        </span>
        <span className={state === 'ok' ? 'soft' : 'warn'}>
          {percentLeft} % left {isAutoCompactOn ? 'until auto-compact' : '(auto-compact is off)'}
          {stateNames[state] === '' ? '' : `: ${stateNames[state]}`}
        </span>
      </div>
      <svg className="gauge" viewBox="0 0 100 8" preserveAspectRatio="none" width="100%" height="8" aria-hidden="true">
        <rect className={fill} width={share} height="8" />
      </svg>
      {gauge.warnings.map((warning) => (
        <p key={warning} className="warn">
          {warning}
        </p>
      ))}
    </section>
  )
}

type SeenProps = { readonly id: string; readonly data: SessionData; readonly query: URLSearchParams }

function Seen({ id, data, query }: SeenProps) {
  const seen = lastSeen(id)
  if (seen === undefined || query.has('at') || seen >= data.items) return null
  return (
    <p>
      <Link to={sessionLink(id, { at: seen })}>Continue where you were: item {count(seen + 1)}</Link>{' '}
      <span className="soft">of {count(data.items)}</span>
    </p>
  )
}
