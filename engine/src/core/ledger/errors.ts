// Errors, what the agent said about them, and what fixed them: the next success of the same thing, with the files changed
// in between.
import { caps, errorKey, type State } from './state.ts'

/** Not errors of the work: the user said no, or another call of the batch failed. */
const notOurs =
  /^(?:The user doesn't want|User rejected|\[Request interrupted|Request interrupted|Permission to use|Cancelled|Sibling tool call|Interrupted by user)|No such tool available/i

type NewError = { readonly what: string; readonly line: string; readonly topic: string }

export function noteError(state: State, { what, line, topic }: NewError): void {
  if (line === '' || notOurs.test(line)) return
  const key = errorKey({ what, line })
  const known = state.errors.get(key)
  state.errors.set(key, { what, line, last: state.messages, ...(known?.cause ? { cause: known.cause } : {}) })
  state.open = [...state.open.filter((open) => open.key !== key), { key, topic, edits: [] }].slice(-caps.openErrors)
  state.unexplained = key
}

/** The same thing succeeded: whatever was wrong with it before is over. */
export function settle(state: State, topic: string): void {
  if (state.open.length === 0) return
  for (const { key, edits } of state.open.filter((open) => open.topic === topic)) {
    const error = state.errors.get(key)
    if (error) state.errors.set(key, { ...error, fixedBy: edits })
    // What the agent says from here on is about something else.
    if (state.unexplained === key) state.unexplained = undefined
  }
  state.open = state.open.filter((open) => open.topic !== topic)
}

/** The agent's first words after an error say what it made of it. */
export function explain(state: State, words: string): void {
  const error = state.unexplained === undefined ? undefined : state.errors.get(state.unexplained)
  if (error && state.unexplained !== undefined) state.errors.set(state.unexplained, { ...error, cause: words })
  state.unexplained = undefined
}
