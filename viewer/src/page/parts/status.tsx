// What is shown while data is on its way, or when it cannot be had.
import type { Loaded } from '../use-data.ts'
import { Link } from './link.tsx'

export function Status({ of: { error }, what }: { readonly of: Loaded<unknown>; readonly what: string }) {
  if (error !== undefined)
    return (
      <p className="message bad" role="alert">
        {error}
      </p>
    )
  return (
    <p className="message" role="status">
      Reading {what} …
    </p>
  )
}

/** For a view that has nothing to show but this. */
export function WholeStatus({ of, what }: { readonly of: Loaded<unknown>; readonly what: string }) {
  if (of.error === undefined) return <Status of={of} what={what} />
  return (
    <>
      <h1>Nothing to show</h1>
      <Status of={of} what={what} />
      <p className="message">
        <Link to="/">To the list of sessions</Link>
      </p>
    </>
  )
}

export type Figure = readonly [name: string, value: string, remark?: string | undefined, tone?: 'bad' | undefined]

/** Figures in a row, each with its name and a remark. */
export function Figures({ of }: { readonly of: readonly Figure[] }) {
  return (
    <dl className="figures">
      {of.map(([name, value, remark, tone]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span className={tone}>{value}</span> {remark === undefined ? null : <small>{remark}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
