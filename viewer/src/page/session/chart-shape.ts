// The geometry of the window chart: which points are shown, and the outlines of the bands. Pure.
import { type AgentLane, type Band, bands, type Gauge, type WindowData } from '../../data/api.ts'

export type Range = { readonly from: number; readonly to: number }

/** Points from `from` to `to`, both shown; at least two where there are two. */
export function rangeOf(points: number, from: string | null, to: string | null): Range {
  const last = Math.max(0, points - 1)
  const read = (text: string | null, otherwise: number) =>
    text !== null && /^\d+$/.test(text) ? Math.min(last, Number(text)) : otherwise
  const [a, b] = [read(from, 0), read(to, last)]
  const range = { from: Math.min(a, b), to: Math.max(a, b) }
  return range.from < range.to ? range : { from: 0, to: last }
}

/** Points to draw: never more than there are pixels. Of each group the one with the largest total is drawn. */
export function drawnPoints(totals: readonly number[], { from, to }: Range, width: number): readonly number[] {
  const all = to - from + 1
  const groups = Math.max(2, Math.floor(width))
  if (all <= groups) return Array.from({ length: all }, (_, at) => from + at)
  const size = all / groups
  return Array.from({ length: groups }, (_, group) => {
    const [start, end] = [from + Math.floor(group * size), from + Math.floor((group + 1) * size)]
    let best = start
    for (let at = start; at < end; at++) if ((totals[at] ?? 0) > (totals[best] ?? 0)) best = at
    return best
  })
}

export type Threshold = { readonly name: string; readonly tokens: number }

export function thresholdsOf(gauge: Gauge | null): readonly Threshold[] {
  if (gauge === null) return []
  return [
    { name: 'warning', tokens: gauge.marks.warning },
    { name: gauge.isAutoCompactOn ? 'auto-compact' : 'auto-compact (off)', tokens: gauge.marks.autoCompact },
    { name: 'window', tokens: gauge.window },
  ]
}

export type Frame = { readonly width: number; readonly height: number; readonly top: number }

export function xOf(point: number, { from, to }: Range, width: number): number {
  return to === from ? width / 2 : ((point - from) / (to - from)) * width
}

/** The nearest point to a place on the chart. */
export function pointAt(x: number, { from, to }: Range, width: number): number {
  const share = Math.max(0, Math.min(1, x / width))
  return Math.round(from + share * (to - from))
}

export function yOf(tokens: number, { height, top }: Frame): number {
  return height - (tokens / Math.max(1, top)) * height
}

/** One closed outline for each band, stacked. */
export function bandPaths(data: WindowData, drawn: readonly number[], range: Range, frame: Frame) {
  const below = drawn.map(() => 0)
  return bands.map((band): { readonly band: Band; readonly path: string } => {
    const lower = [...below]
    for (const [at, point] of drawn.entries()) below[at] = (below[at] ?? 0) + (data.bands[band][point] ?? 0)
    const at = (place: number, tokens: number) =>
      `${xOf(drawn[place] ?? 0, range, frame.width).toFixed(1)},${yOf(tokens, frame).toFixed(1)}`
    const top = below.map((tokens, place) => at(place, tokens))
    const bottom = lower.map((tokens, place) => at(place, tokens)).reverse()
    return { band, path: `M${[...top, ...bottom].join('L')}Z` }
  })
}

/** What was cleared, on top of the total; empty where nothing was. */
export function clearedPath(data: WindowData, drawn: readonly number[], range: Range, frame: Frame): string {
  if (drawn.every((point) => (data.cleared[point] ?? 0) === 0)) return ''
  const points = drawn.map((point) => {
    const tokens = (data.totals[point] ?? 0) + (data.cleared[point] ?? 0)
    return `${xOf(point, range, frame.width).toFixed(1)},${yOf(tokens, frame).toFixed(1)}`
  })
  return `M${points.join('L')}`
}

/** Thresholds that the chart is too low to show. */
export function above(thresholds: readonly Threshold[], top: number): readonly Threshold[] {
  return thresholds.filter(({ tokens }) => tokens > top)
}

/** The top of the scale: above everything that is shown, and above a threshold that is near. */
export function scaleTop(data: WindowData, range: Range, thresholds: readonly Threshold[]): number {
  let most = 1
  for (let at = range.from; at <= range.to; at++)
    most = Math.max(most, (data.totals[at] ?? 0) + (data.cleared[at] ?? 0))
  const near = thresholds.map(({ tokens }) => tokens).filter((value) => value <= most * 1.6)
  return Math.max(most, ...near) * 1.08
}

/** Round values for the lines of the scale. */
export function ticksOf(top: number): readonly number[] {
  const rough = top / 4
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, rough)))
  const step = ([1, 2, 5, 10].find((factor) => factor * unit >= rough) ?? 10) * unit
  return Array.from({ length: Math.floor(top / step) }, (_, at) => (at + 1) * step)
}

export type LaneShape = {
  readonly lane: AgentLane
  readonly row: number
  readonly x: number
  readonly width: number
}

/** Lanes that fit below the chart. The list next to the conversation has all. */
export const maxLaneRows = 6

/** Where each sub-agent ran: from the answer after its start to the answer after its end, packed into few rows. */
export function laneShapes(lanes: readonly AgentLane[], data: WindowData, range: Range, width: number) {
  const times = data.times.map((time) => time ?? Number.NaN)
  const pointAtTime = (time: number) => {
    const point = times.findIndex((one) => one >= time)
    return point < 0 ? times.length - 1 : point
  }
  const placed = lanes.map((lane) => {
    const { item, from, to } = lane
    const started = item === null ? -1 : data.items.findIndex((one) => one >= item)
    const first = started >= 0 ? started : from === null ? -1 : pointAtTime(from)
    return { lane, first, last: to === null ? first : Math.max(first, pointAtTime(to)) }
  })
  const ends: number[] = []
  const shapes = placed
    .toSorted((a, b) => a.first - b.first)
    .flatMap(({ lane, first, last }): readonly LaneShape[] => {
      if (first < 0 || last < range.from || first > range.to) return []
      const x = xOf(Math.max(first, range.from), range, width)
      const end = Math.max(x + 4, xOf(Math.min(last, range.to), range, width))
      const free = ends.findIndex((taken) => taken + 2 < x)
      const row = free < 0 ? ends.length : free
      ends[row] = end
      return [{ lane, row, x, width: end - x }]
    })
  return shapes.filter(({ row }) => row < maxLaneRows)
}
