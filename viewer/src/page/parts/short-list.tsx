// A list that shows its first entries, and all of them on demand.
import { type ReactNode, useState } from 'react'
import { count } from '../format.ts'

type ShortListProps<Entry> = {
  readonly of: readonly Entry[]
  readonly max: number
  /** Makes a `<li>`. */
  readonly children: (entry: Entry, at: number) => ReactNode
}

export function ShortList<Entry>({ of: entries, max, children }: ShortListProps<Entry>) {
  const [isWhole, setWhole] = useState(false)
  if (entries.length === 0) return null
  const isShort = entries.length <= max
  return (
    <ul className="list">
      {(isWhole ? entries : entries.slice(0, max)).map(children)}
      {isShort ? null : (
        <li>
          <button type="button" className="plain" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? `Show only ${count(max)}` : `Show all ${count(entries.length)}`}
          </button>
        </li>
      )}
    </ul>
  )
}
