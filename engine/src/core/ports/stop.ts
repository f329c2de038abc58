// An abort signal that core can make by itself.
import type { AbortSignalPort } from './model.ts'

export type Stop = { readonly signal: AbortSignalPort; readonly stop: () => void }

export function createStop(): Stop {
  const listeners = new Set<() => void>()
  let aborted = false
  return {
    signal: {
      get aborted() {
        return aborted
      },
      addEventListener: (_type, listener) => {
        if (aborted) listener()
        else listeners.add(listener)
      },
      removeEventListener: (_type, listener) => {
        listeners.delete(listener)
      },
    },
    stop: () => {
      if (aborted) return
      aborted = true
      for (const listener of listeners) listener()
      listeners.clear()
    },
  }
}
