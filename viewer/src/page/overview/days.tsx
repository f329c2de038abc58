// Small charts over time: one bar for each day, or for several days.
import { count, dateTime, dollars, percent, short } from '../format.ts'
import type { Period, Periods } from './rows.ts'

type Series = {
  readonly name: string
  readonly value: (day: Period) => number
  readonly all: (days: readonly Period[]) => string
  readonly shown: (value: number) => string
  readonly fill: string
}

const sum = (days: readonly Period[], value: (day: Period) => number) => days.reduce((all, day) => all + value(day), 0)

const series: readonly Series[] = [
  {
    name: 'Tokens',
    value: ({ tokens }) => tokens,
    all: (days) => short(sum(days, ({ tokens }) => tokens)),
    shown: short,
    fill: 'fill-user',
  },
  {
    name: 'Price',
    value: ({ cost }) => cost,
    all: (days) => dollars(sum(days, ({ cost }) => cost)),
    shown: dollars,
    fill: 'fill-assistant',
  },
  {
    name: 'Compactions',
    value: ({ compactions }) => compactions,
    all: (days) => count(sum(days, ({ compactions }) => compactions)),
    shown: count,
    fill: 'fill-summaries',
  },
  {
    name: 'Cached',
    value: ({ cachedShare }) => cachedShare ?? 0,
    all: (days) => percent(shareOf(days)),
    shown: percent,
    fill: 'fill-thinking',
  },
  {
    name: 'Lost',
    value: ({ lost }) => lost,
    all: (days) => count(sum(days, ({ lost }) => lost)),
    shown: count,
    fill: 'fill-files',
  },
]

/** Days weigh by their sessions. */
function shareOf(days: readonly Period[]): number | null {
  const known = days.filter(({ cachedShare }) => cachedShare !== null)
  const all = sum(known, ({ sessions }) => sessions)
  return all === 0 ? null : sum(known, (day) => (day.cachedShare ?? 0) * day.sessions) / all
}

export function Days({ of: { days: length, list: days } }: { readonly of: Periods }) {
  if (days.length === 0) return null
  const [first, last] = [dateTime(days[0]?.time ?? null).slice(0, 10), dateTime(days.at(-1)?.time ?? null).slice(0, 10)]
  return (
    <section className="days" aria-label={`${length === 1 ? 'By day' : `By ${length} days`}, from ${first} to ${last}`}>
      {series.map((one) => (
        <figure className="card" key={one.name}>
          <div className="body">
            <figcaption className="row spread">
              <span className="soft">{one.name}</span>
              <b>{one.all(days)}</b>
            </figcaption>
            <Bars days={days} series={one} />
            <div className="row spread soft">
              <small>{first}</small>
              <small>{last}</small>
            </div>
          </div>
        </figure>
      ))}
    </section>
  )
}

function Bars({
  days,
  series: { name, value, shown, fill },
}: {
  readonly days: readonly Period[]
  readonly series: Series
}) {
  const most = Math.max(...days.map(value), Number.MIN_VALUE)
  const width = 100 / days.length
  const largest = days.find((day) => value(day) === most)
  return (
    <svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={labelOf()}>
      <title>{labelOf()}</title>
      {days.map((day, at) => (
        <rect
          key={day.time}
          className={fill}
          x={at * width}
          width={Math.max(0.2, width * 0.85)}
          y={40 - (value(day) / most) * 40}
          height={(value(day) / most) * 40}
        >
          <title>{`${dateTime(day.time).slice(0, 10)}: ${shown(value(day))}`}</title>
        </rect>
      ))}
    </svg>
  )

  function labelOf(): string {
    return largest ? `${name}: most on ${dateTime(largest.time).slice(0, 10)}, ${shown(most)}` : name
  }
}
