// What a model client needs besides the network: time and chance, passed in so that tests decide.
import type { AbortSignalPort } from '../core/ports/model.ts'

export type ModelPorts = {
  /** Milliseconds since 1970: servers name dates. */
  readonly now: () => number
  /** Resolves after this time, or at once when the signal is aborted. */
  readonly wait: (milliseconds: number, signal?: AbortSignalPort) => Promise<void>
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
}

export const systemPorts: ModelPorts = { now: () => Date.now(), wait, random: () => Math.random() }

function wait(milliseconds: number, signal?: AbortSignalPort): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end, { once: true })
  })
}
