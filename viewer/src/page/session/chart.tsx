// The context over time as stacked bands. Drag to zoom; with the keyboard: arrows move, Enter jumps, + and - zoom.
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { type AgentLane, bands, type SessionData, type WindowData } from '../../data/api.ts'
import { count, dateTime, dollars, duration, oneLine, short } from '../format.ts'
import {
  above,
  bandPaths,
  clearedPath,
  drawnPoints,
  type Frame,
  type LaneShape,
  laneShapes,
  pointAt,
  type Range,
  scaleTop,
  type Threshold,
  thresholdsOf,
  ticksOf,
  xOf,
  yOf,
} from './chart-shape.ts'

export const bandNames: Readonly<Record<(typeof bands)[number], string>> = {
  system: 'system and tools',
  summaries: 'summaries',
  user: 'user',
  assistant: 'assistant',
  thinking: 'thinking',
  results: 'results',
  files: 'files and notes',
}

export type ChartProps = {
  readonly session: SessionData
  readonly data: WindowData
  readonly lanes: readonly AgentLane[]
  readonly range: Range
  readonly onRange: (range: Range | undefined) => void
  readonly onJump: (item: number) => void
}

const height = 220

export function WindowChart({ session, data, lanes, range, onRange, onJump }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const [cursor, setCursor] = useState<number>()
  const [start, setStart] = useState<number>()
  const { compactions } = session
  const thresholds = thresholdsOf(session.gauge)
  const frame: Frame = { width, height, top: scaleTop(data, range, thresholds) }
  const drawn = drawnPoints(data.totals, range, width)
  const shapes = laneShapes(lanes, data, range, width)
  const laneRows = Math.max(0, ...shapes.map(({ row }) => row + 1))
  const svgHeight = height + 22 + laneRows * laneHeight
  const pointOf = (event: PointerEvent) =>
    pointAt(event.clientX - event.currentTarget.getBoundingClientRect().left, range, width)
  const end = (event: PointerEvent) => {
    const point = pointOf(event)
    if (start !== undefined && Math.abs(point - start) > 0 && isDrag(start, point, range, width))
      onRange({ from: Math.min(start, point), to: Math.max(start, point) })
    else onJump(data.items[point] ?? 0)
    setStart(undefined)
  }
  return (
    <div className="chart" ref={box}>
      <div
        role="slider"
        tabIndex={0}
        aria-label="The context over time, by answer"
        aria-valuemin={range.from + 1}
        aria-valuemax={range.to + 1}
        aria-valuenow={(cursor ?? range.to) + 1}
        aria-valuetext={readingOf(data, cursor ?? range.to)}
        onPointerMove={(event) => setCursor(pointOf(event))}
        onPointerLeave={() => setCursor(undefined)}
        onPointerDown={(event) => setStart(pointOf(event))}
        onPointerUp={end}
        onKeyDown={(event) => onKey(event, { cursor: cursor ?? range.to, range, data, setCursor, onRange, onJump })}
      >
        <svg height={svgHeight} viewBox={`0 -4 ${width} ${svgHeight}`} aria-hidden="true">
          <Scale frame={frame} />
          {bandPaths(data, drawn, range, frame).map(({ band, path }) => (
            <path key={band} className={`band fill-${band}`} d={path} />
          ))}
          <path className="cleared-line" d={clearedPath(data, drawn, range, frame)} />
          <Thresholds of={thresholds} frame={frame} />
          <Marks data={data} range={range} frame={frame} compactions={compactions} />
          <Lanes shapes={shapes} />
          {start !== undefined && cursor !== undefined ? (
            <rect className="brush" {...brushOf(start, cursor, range, width)} y={0} height={height} />
          ) : null}
          {cursor === undefined ? null : (
            <line className="cursor" x1={xOf(cursor, range, width)} x2={xOf(cursor, range, width)} y1={0} y2={height} />
          )}
        </svg>
      </div>
      <Reading data={data} point={cursor} above={above(thresholds, frame.top)} />
    </div>
  )
}

function isDrag(start: number, end: number, range: Range, width: number): boolean {
  return Math.abs(xOf(start, range, width) - xOf(end, range, width)) >= 6
}

function brushOf(start: number, cursor: number, range: Range, width: number) {
  const [a, b] = [xOf(start, range, width), xOf(cursor, range, width)]
  return { x: Math.min(a, b), width: Math.abs(a - b) }
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(800)
  useEffect(() => {
    if (!box.current) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(200, entry?.contentRect.width ?? 800)))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [box])
  return width
}

type Keys = {
  readonly cursor: number
  readonly range: Range
  readonly data: WindowData
  readonly setCursor: (point: number) => void
  readonly onRange: ChartProps['onRange']
  readonly onJump: ChartProps['onJump']
}

function onKey(event: KeyboardEvent, { cursor, range, data, setCursor, onRange, onJump }: Keys): void {
  const move = (point: number) => setCursor(Math.max(range.from, Math.min(range.to, point)))
  const zoom = (factor: number) => {
    const half = Math.max(1, Math.round(((range.to - range.from) * factor) / 2))
    onRange({ from: Math.max(0, cursor - half), to: Math.min(data.totals.length - 1, cursor + half) })
  }
  const page = Math.max(1, Math.round((range.to - range.from) / 20))
  const actions = new Map<string, () => void>([
    ['ArrowLeft', () => move(cursor - 1)],
    ['ArrowRight', () => move(cursor + 1)],
    ['PageDown', () => move(cursor - page)],
    ['PageUp', () => move(cursor + page)],
    ['Home', () => move(range.from)],
    ['End', () => move(range.to)],
    ['Enter', () => onJump(data.items[cursor] ?? 0)],
    ['+', () => zoom(0.5)],
    ['-', () => zoom(2)],
    ['Escape', () => onRange(undefined)],
  ])
  const action = actions.get(event.key)
  if (!action) return
  event.preventDefault()
  action()
}

function Scale({ frame }: { readonly frame: Frame }) {
  return ticksOf(frame.top).map((tokens) => (
    <g key={tokens}>
      <line className="axis" x1={0} x2={frame.width} y1={yOf(tokens, frame)} y2={yOf(tokens, frame)} />
      <text x={2} y={yOf(tokens, frame) - 3}>
        {short(tokens)}
      </text>
    </g>
  ))
}

const laneHeight = 14

function Lanes({ shapes }: { readonly shapes: readonly LaneShape[] }) {
  return shapes.map(({ lane, row, x, width }) => {
    const y = height + 18 + row * laneHeight
    const label = `${oneLine(lane.name)}${lane.cost === null ? '' : `, ${dollars(lane.cost)}`}`
    const room = Math.floor((width - 6) / 6)
    return (
      <g key={lane.id}>
        <title>{label}</title>
        <rect className="lane" x={x} y={y} width={width} height={laneHeight - 2} rx={2} />
        {room < 8 ? null : (
          <text x={x + 3} y={y + 9}>
            {label.length > room ? `${label.slice(0, room - 1)}…` : label}
          </text>
        )}
      </g>
    )
  })
}

function Thresholds({ of, frame }: { readonly of: readonly Threshold[]; readonly frame: Frame }) {
  return of
    .filter(({ tokens }) => tokens <= frame.top)
    .map(({ name, tokens }) => (
      <g key={name}>
        <line className="threshold" x1={0} x2={frame.width} y1={yOf(tokens, frame)} y2={yOf(tokens, frame)} />
        <text x={frame.width - 4} y={yOf(tokens, frame) - 3} textAnchor="end">
          {name} {short(tokens)}
        </text>
      </g>
    ))
}

type MarksProps = {
  readonly data: WindowData
  readonly range: Range
  readonly frame: Frame
  readonly compactions: SessionData['compactions']
}

/** Compactions, pauses and cache misses, each at the answer after it. */
function Marks({ data, range, frame, compactions }: MarksProps) {
  const isShown = (point: number) => point >= range.from && point <= range.to
  const placed = compactions.map((row) => ({ row, point: data.items.findIndex((item) => item > row.item) }))
  return (
    <>
      {data.gaps
        .filter(({ point }) => isShown(point))
        .map(({ point }) => (
          <line key={`gap ${point}`} className="gap" {...vertical(xOf(point, range, frame.width) - 2)} />
        ))}
      {placed
        .filter(({ point }) => point >= 0 && isShown(point))
        .map(({ row, point }) => (
          <g key={row.uuid}>
            <line className="compaction" {...vertical(xOf(point, range, frame.width))} />
            <text x={Math.min(frame.width - 8, xOf(point, range, frame.width))} y={height + 14} textAnchor="middle">
              {row.number}
            </text>
          </g>
        ))}
      {data.misses
        .filter(({ point }) => isShown(point))
        .map(({ point }) => (
          <circle
            key={`miss ${point}`}
            className="miss"
            cx={Math.min(frame.width - 5, xOf(point, range, frame.width))}
            cy={6}
            r={4}
          />
        ))}
    </>
  )
}

function vertical(x: number) {
  return { x1: x, x2: x, y1: 0, y2: height }
}

function readingOf(data: WindowData, point: number): string {
  const miss = data.misses.find((one) => one.point === point)
  const gap = data.gaps.find((one) => one.point === point)
  const parts = bands
    .filter((band) => (data.bands[band][point] ?? 0) > 0)
    .map((band) => `${bandNames[band]} ${short(data.bands[band][point] ?? 0)}`)
  return [
    `Answer ${count(point + 1)}: ${count(data.totals[point] ?? 0)} tokens`,
    dateTime(data.times[point] ?? null),
    parts.join(', '),
    ...((data.cleared[point] ?? 0) > 0 ? [`cleared before: ${short(data.cleared[point] ?? 0)}`] : []),
    ...(gap ? [`after a pause of ${duration(gap.milliseconds)}`] : []),
    ...(miss ? [`cache missed: ${short(miss.tokens)} tokens, ${dollars(miss.cost)} (${miss.reasons.join('; ')})`] : []),
  ]
    .filter((part) => part !== '')
    .join(' · ')
}

type ReadingProps = {
  readonly data: WindowData
  readonly point: number | undefined
  readonly above: readonly Threshold[]
}

function Reading({ data, point, above }: ReadingProps) {
  if (point !== undefined) return <p className="reading soft">{readingOf(data, point)}</p>
  const higher = above.map(({ name, tokens }) => `${name} ${short(tokens)}`).join(', ')
  return (
    <p className="reading soft">
      Hover to read the chart, click to jump to an answer, drag to zoom.
      {higher === '' ? '' : ` Above the chart: ${higher}.`}
    </p>
  )
}

type LegendProps = { readonly data: WindowData | undefined; readonly compactions: number }

/** Names what the chart shows, and nothing else. */
export function Legend({ data, compactions }: LegendProps) {
  if (!data) return null
  const marks: readonly (readonly [isShown: boolean, style: string, name: string])[] = [
    ...bands.map((band) => [data.bands[band].some((tokens) => tokens > 0), `fill-${band}`, bandNames[band]] as const),
    [data.cleared.some((tokens) => tokens > 0), 'mark-cleared', 'cleared'],
    [compactions > 0, 'mark-compaction', 'compaction'],
    [data.misses.length > 0, 'mark-miss', 'cache miss'],
    [data.gaps.length > 0, 'mark-gap', 'pause'],
  ]
  return (
    <div className="legend">
      {marks
        .filter(([isShown]) => isShown)
        .map(([, style, name]) => (
          <span key={name} className="whole">
            <i className={style} />
            {name}
          </span>
        ))}
    </div>
  )
}
