// Whether the store is available, known before a request needs it. A probe runs every few seconds, and more often while the store
// is unavailable.
import type { Log } from '../log.ts'

export type StoreHealth = {
  /** Whether the store's return is noticed. Local stores are not watched. */
  readonly isWatched: boolean
  /** The reason why the store is unavailable, or undefined. */
  readonly problem: () => string | undefined
  /** Reports a failed use. */
  readonly failed: (why: string) => void
  /** Calls back whenever the store becomes available again. */
  readonly onReturn: (call: () => void) => void
  readonly close: () => void
}

export type HealthOptions = {
  /** Throws if the store is unavailable. Ends by itself. */
  readonly probe: () => Promise<void>
  readonly log: Log
  readonly everyMs?: number
  readonly everyMsAway?: number
}

export const alwaysThere: StoreHealth = {
  ...{ isWatched: false, problem: () => undefined, failed: () => undefined },
  ...{ onReturn: () => undefined, close: () => undefined },
}

export function watchStore({ probe, log, everyMs = 2_000, everyMsAway = 250 }: HealthOptions): StoreHealth {
  const returned: (() => void)[] = []
  let problem: string | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const failed = (why: string) => {
    if (problem === undefined && !isClosed) {
      log('error', 'store-away', { why })
      schedule(everyMsAway)
    }
    problem = why
  }
  const check = async (): Promise<void> => {
    try {
      await probe()
      if (problem !== undefined) {
        problem = undefined
        log('info', 'store-returned')
        for (const call of returned) call()
      }
    } catch (error) {
      failed(error instanceof Error ? error.message : String(error))
    }
    schedule(problem === undefined ? everyMs : everyMsAway)
  }
  const schedule = (ms: number) => {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(() => void check(), ms).unref()
  }
  schedule(everyMs)
  return {
    ...{ isWatched: true, problem: () => problem, failed },
    onReturn: (call) => void returned.push(call),
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
