// Background work. On one machine the process does it; on several, pg-boss makes sure that each job runs once in any process.
// Jobs have no caller's credential, which is never stored, so none of them asks a model.
import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { Log } from '../log.ts'
import type { StoreHealth } from '../state/health.ts'

export type Jobs = {
  readonly close: () => Promise<void>
}

export type JobOptions = {
  readonly log: Log
  /** By name. */
  readonly jobs: Readonly<Record<string, Job>>
}

export type Job = {
  readonly run: () => Promise<void>
  readonly everyHours: number
}

const hourMs = 3_600_000

export function jobsInProcess({ jobs, log }: JobOptions): Jobs {
  const timers = Object.entries(jobs).map(([name, { run, everyHours }]) => {
    const attempt = () => run().catch((error: unknown) => log('error', 'job-failed', { job: name, why: String(error) }))
    void attempt()
    return setInterval(attempt, everyHours * hourMs).unref()
  })
  return {
    close: async () => {
      for (const timer of timers) clearInterval(timer)
    },
  }
}

export type SharedJobOptions = JobOptions & {
  readonly pool: pg.Pool
  readonly schema: string
  readonly health: StoreHealth
}

/** Starts as soon as the database is available. */
export function jobsInPostgres({ pool, schema, health, jobs, log }: SharedJobOptions): Jobs {
  const boss = new PgBoss({ db: { executeSql: (text, values) => pool.query(text, values) }, schema })
  boss.on('error', (error) => log('warn', 'job-trouble', { why: error.message }))
  let isClosed = false
  let started: Promise<boolean> | undefined
  const start = async (): Promise<boolean> => {
    try {
      await boss.start()
      for (const [name, { run, everyHours }] of Object.entries(jobs)) {
        await boss.createQueue(name, { policy: 'singleton', retryLimit: 3, retryDelay: 60 })
        // Once now, however many processes start, and then repeatedly.
        await boss.send(name, {}, { singletonSeconds: hourMs / 1_000 })
        await boss.schedule(name, `17 ${everyHours >= 24 ? 3 : `*/${everyHours}`} * * *`)
        await boss.work(name, { pollingIntervalSeconds: 30 }, run)
      }
      return true
    } catch (error) {
      log('warn', 'job-trouble', { why: error instanceof Error ? error.message : String(error) })
      return false
    }
  }
  const attempt = () => {
    if (!isClosed) started = (started ?? Promise.resolve(false)).then((isStarted) => isStarted || start())
  }
  health.onReturn(attempt)
  attempt()
  return {
    close: async () => {
      isClosed = true
      if (await started) await boss.stop({ close: false, graceful: true, timeout: 5_000 })
    },
  }
}
