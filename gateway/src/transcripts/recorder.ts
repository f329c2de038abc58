// Writes each finished exchange to its transcript and to the books in the background. Errors here never reach a client. While the
// store is unavailable, exchanges wait in memory up to a limit; abandoned ones are logged, and the next request of the
// conversation contains them again.
import { StoreError } from 'everlong'
import type { Config } from '../config/schema.ts'
import type { Log } from '../log.ts'
import type { StoreHealth } from '../state/health.ts'
import type { Passed } from './passed.ts'

export type Recorder = {
  readonly add: (passed: Passed) => void
  /** Exchanges that wait to be written. */
  readonly waiting: () => number
  /** Resolves when everything added is written or abandoned. */
  readonly settled: () => Promise<void>
  /** Like `settled`, but abandons exchanges that wait longer than `limits.storeMs` for an unavailable store. */
  readonly close: () => Promise<void>
}

export type RecorderOptions = {
  readonly config: Pick<Config, 'limits'>
  readonly log: Log
  readonly health: StoreHealth
  /** Max. exchanges that are written at the same time. */
  readonly concurrency: number
  /** Writes one exchange. May be called again for the same one after a failure. */
  readonly record: (passed: Passed) => Promise<void>
}

type Item = { readonly passed: Passed; readonly bytes: number; attempts: number }

/** For a session that another writer held or took over, which needs a moment. */
const maxAttempts = 4

export function createRecorder({ config, log, health, concurrency, record }: RecorderOptions): Recorder {
  let queue: Item[] = []
  let waitingBytes = 0
  let running = 0
  /** The gateway stops, and has waited long enough for an unavailable store. */
  let isOverdue = false
  const idle: (() => void)[] = []
  const done = ({ bytes, passed }: Item) => {
    waitingBytes -= bytes
    passed.trace.close()
  }
  const giveUp = (item: Item, why: string) => {
    done(item)
    log('error', 'not-recorded', { tenant: item.passed.caller.tenant, why })
  }
  const failed = (item: Item, error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    const reason = error instanceof StoreError ? error.reason : undefined
    const isAway = reason === 'unavailable' && health.isWatched
    if (isAway) health.failed(why)
    const isTaken = reason === 'held' || reason === 'lost'
    if (isAway && !isOverdue) queue.unshift(item)
    else if (isTaken && ++item.attempts < maxAttempts) queue.push(item)
    else giveUp(item, why)
  }
  const run = async (item: Item): Promise<void> => {
    try {
      await record(item.passed)
      done(item)
    } catch (error) {
      failed(item, error)
    } finally {
      running--
      pump()
    }
  }
  const pump = () => {
    if (isOverdue && health.problem() !== undefined) {
      for (const item of queue) giveUp(item, 'The gateway stops while the store is away.')
      queue = []
    }
    while (running < concurrency && queue.length > 0 && health.problem() === undefined) {
      running++
      void run(queue.shift() as Item)
    }
    if (running > 0 || queue.length > 0) return
    for (const resolve of idle.splice(0)) resolve()
  }
  health.onReturn(pump)
  const settled = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    idle.push(resolve)
    pump()
    return promise
  }
  return {
    add: (passed) => {
      const bytes = passed.bytes.length + (passed.forwarded.bytes?.length ?? 0)
      waitingBytes += bytes
      queue.push({ passed, bytes, attempts: 0 })
      // Later requests of a conversation contain earlier ones, so the oldest is dropped first.
      while (waitingBytes > config.limits.maxWaitingBytes && queue.length > 1) {
        giveUp(queue.shift() as Item, 'Too much waits to be written (limits.maxWaitingBytes).')
      }
      pump()
    },
    waiting: () => queue.length + running,
    settled,
    close: async () => {
      const overdue = setTimeout(() => {
        isOverdue = true
        pump()
      }, config.limits.storeMs)
      await settled()
      clearTimeout(overdue)
    },
  }
}
