// What a model client needs besides the network: time and randomness, passed in so that tests control them.
import type { AbortSignalPort } from '../core/ports/model.ts'

export type ModelPorts = {
  /** Milliseconds since 1970. Servers send dates. */
  readonly now: () => number
  /** Resolves after this time, or at once when the signal is aborted. */
  readonly wait: (milliseconds: number, signal?: AbortSignalPort) => Promise<void>
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
}

export const systemPorts: ModelPorts = { now: () => Date.now(), wait, random: () => Math.random() }

type Schedulers = {
  readonly setImmediate?: (then: () => void) => unknown
  readonly scheduler?: { readonly yield?: () => Promise<void> }
  readonly MessageChannel?: new () => { readonly port1: Port; readonly port2: Port }
}
type Port = {
  onmessage: (() => void) | null
  readonly postMessage: (message: null) => void
  readonly close: () => void
}

/** Resolves in the next turn of the event loop, by the means of the runtime. */
export function nextTurn(): Promise<void> {
  const { setImmediate, scheduler, MessageChannel } = globalThis as Schedulers
  if (setImmediate) return new Promise((resolve) => void setImmediate(resolve))
  if (scheduler?.yield) return scheduler.yield()
  // Nested timeouts take four milliseconds in browsers.
  if (!MessageChannel) return new Promise((resolve) => void setTimeout(resolve, 0))
  const { port1, port2 } = new MessageChannel()
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}

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
