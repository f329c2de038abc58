// Errors, and what put them right: the next success of the same thing, with the files changed in between.
import { caps } from './caps.ts'
import { errorKey } from './keys.ts'
import type { State } from './state.ts'

/** Not errors of the work: the person said no, or another call of the batch failed. */
const notOurs =
  /^(?:The user doesn't want|User rejected|\[Request interrupted|Request interrupted|Permission to use|Cancelled|Sibling tool call|Interrupted by user)|No such tool available/i

type NewError = { readonly what: string; readonly line: string; readonly topic: string }

export function noteError(state: State, { what, line, topic }: NewError): void {
  if (line === '' || notOurs.test(line)) return
  const key = errorKey({ what, line })
  const known = state.errors.get(key)
  state.errors.set(key, { what, line, times: (known?.times ?? 0) + 1, last: state.messages })
  state.open = [...state.open.filter((open) => open.key !== key), { key, topic, edits: [] }].slice(-caps.openErrors)
}

/** The same thing went well: whatever was wrong with it before is over. */
export function settle(state: State, topic: string): void {
  if (state.open.length === 0) return
  for (const { key, edits } of state.open.filter((open) => open.topic === topic)) {
    const error = state.errors.get(key)
    if (error) state.errors.set(key, { ...error, fix: edits })
  }
  state.open = state.open.filter((open) => open.topic !== topic)
}
