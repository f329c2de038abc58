// What is shown while data is on its way, or when it cannot be had.
import type { Loaded } from '../use-data.ts'

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

/** Figures in a row, each with its name and a remark. */
export function Figures({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: string, more?: string | undefined])[]
}) {
  return (
    <dl className="figures">
      {of.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value} {more === undefined ? null : <small>{more}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
