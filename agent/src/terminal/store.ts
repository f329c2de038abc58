// Holds the state and informs listeners. Many changes in a row are reported once; the change of a key at once.
import type { TerminalState } from './state/state.ts'

export type Store = {
  readonly get: () => TerminalState
  readonly update: (change: (state: TerminalState) => TerminalState, how?: 'now' | 'soon') => void
  readonly subscribe: (listener: () => void) => () => void
}

const soonMs = 25

export function createStore(first: TerminalState): Store {
  let state = first
  let timer: NodeJS.Timeout | undefined
  const listeners = new Set<() => void>()
  const tell = () => {
    clearTimeout(timer)
    timer = undefined
    for (const listener of listeners) listener()
  }
  return {
    get: () => state,
    update: (change, how = 'soon') => {
      const before = state
      state = change(state)
      if (state === before) return
      if (how === 'now') tell()
      else timer ??= setTimeout(tell, soonMs)
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
