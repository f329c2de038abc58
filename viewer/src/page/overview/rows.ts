// Filters, order and sums of the list of sessions.
import type { SessionRow } from '../../data/api.ts'

export const sortKeys = [
  'modified',
  'cost',
  'tokens',
  'compactions',
  'lost',
  'bytes',
  'cached',
  'title',
  'agent',
] as const
export type SortKey = (typeof sortKeys)[number]

export type Filter = {
  readonly words: string
  readonly agent: string
  readonly project: string
  readonly only: string
  readonly sort: SortKey
  readonly isReversed: boolean
}

export function filterOf(query: URLSearchParams): Filter {
  const sort = query.get('sort') ?? ''
  const name = sort.replace(/^-/, '')
  return {
    words: query.get('words') ?? '',
    agent: query.get('agent') ?? '',
    project: query.get('project') ?? '',
    only: query.get('only') ?? '',
    sort: sortKeys.find((key) => key === name) ?? 'modified',
    isReversed: sort.startsWith('-'),
  }
}

/** Largest first; names from A to Z. Sessions without a value come last. */
export function chosenRows(rows: readonly SessionRow[], filter: Filter): readonly SessionRow[] {
  const words = filter.words.toLowerCase()
  const isChosen = ({ path, facts }: SessionRow) =>
    (filter.agent === '' || facts?.agent === filter.agent) &&
    (filter.project === '' || facts?.project === filter.project) &&
    (filter.only !== 'compacted' || (facts?.compactions ?? 0) > 0) &&
    (filter.only !== 'lost' || (facts?.lost ?? 0) > 0) &&
    (words === '' || `${facts?.title ?? ''}\n${path}\n${facts?.project ?? ''}`.toLowerCase().includes(words))
  const direction = filter.isReversed ? -1 : 1
  return rows.filter(isChosen).toSorted((a, b) => {
    const [x, y] = [valueFor(a, filter.sort), valueFor(b, filter.sort)]
    if (x === null || y === null) return Number(x === null) - Number(y === null)
    if (typeof x === 'string' || typeof y === 'string') return direction * String(x).localeCompare(String(y))
    return direction * (y - x)
  })
}

function valueFor(row: SessionRow, key: SortKey): number | string | null {
  const { facts } = row
  switch (key) {
    case 'modified':
      return facts?.to ?? row.modified
    case 'bytes':
      return row.bytes
    case 'cached':
      return facts?.cachedShare ?? null
    case 'tokens':
      return facts ? tokensOf(row) : null
    default:
      return facts?.[key] ?? null
  }
}

export function tokensOf({ facts }: SessionRow): number {
  if (!facts) return 0
  const { input, output, cacheRead, cacheWrite } = facts.tokens
  return input + output + cacheRead + cacheWrite
}

export type Period = {
  /** Local midnight of its first day. */
  readonly time: number
  readonly sessions: number
  readonly tokens: number
  readonly cost: number
  readonly compactions: number
  readonly lost: number
  readonly cachedShare: number | null
}

export type Periods = { readonly days: number; readonly list: readonly Period[] }

/** Bars that can be told apart on a small chart. */
const maxBars = 60

/** Sums by the day of each session's last message; over a long time by several days, so that the bars can be told apart. */
export function periodsOf(rows: readonly SessionRow[]): Periods {
  const read = rows.filter(({ facts }) => facts !== null)
  const dayOf = (row: SessionRow) => new Date(row.facts?.to ?? row.modified).setHours(0, 0, 0, 0)
  const times = read.map(dayOf)
  if (times.length === 0) return { days: 1, list: [] }
  const first = times.reduce((least, time) => Math.min(least, time))
  const last = times.reduce((most, time) => Math.max(most, time))
  // Rounded, because a day may have 23 or 25 hours.
  const daysFrom = (time: number) => Math.round((time - first) / 86_400_000)
  const days = Math.ceil((daysFrom(last) + 1) / maxBars)
  const groups: SessionRow[][] = Array.from({ length: Math.floor(daysFrom(last) / days) + 1 }, () => [])
  for (const [at, row] of read.entries()) groups[Math.floor(daysFrom(times[at] ?? first) / days)]?.push(row)
  const list = groups.map((group, at) => {
    const start = new Date(first)
    return sumOf(start.setDate(start.getDate() + at * days), group)
  })
  return { days, list }
}

function sumOf(time: number, rows: readonly SessionRow[]): Period {
  const sum = (value: (row: SessionRow) => number) => rows.reduce((all, row) => all + value(row), 0)
  const cacheRead = sum(({ facts }) => facts?.tokens.cacheRead ?? 0)
  const prompt = cacheRead + sum(({ facts }) => (facts ? facts.tokens.input + facts.tokens.cacheWrite : 0))
  return {
    time,
    sessions: rows.length,
    tokens: sum(tokensOf),
    cost: sum(({ facts }) => facts?.cost ?? 0),
    compactions: sum(({ facts }) => facts?.compactions ?? 0),
    lost: sum(({ facts }) => facts?.lost ?? 0),
    cachedShare: prompt === 0 ? null : cacheRead / prompt,
  }
}

/** Without the folder that was looked at, which is the same for all. */
export function pathBelow(roots: readonly string[], path: string): string {
  const root = roots.find((one) => path.startsWith(`${one}/`))
  return root === undefined ? path : path.slice(root.length + 1)
}
