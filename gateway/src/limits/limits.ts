// Limits of a key: requests and tokens in any 60 seconds, and simultaneous requests. Gateways that share a database count
// requests and tokens together; each process counts simultaneous requests.
import { StoreError } from 'everlong'
import type { Config } from '../config/schema.ts'
import { overLimit, type Refusal, refusals } from '../http/refusals.ts'
import type { Log } from '../log.ts'
import type { StoreHealth } from '../state/health.ts'
import type { Caller } from '../tenants.ts'
import { type KeyName, type OverLimit, type Uses, usesInProcess } from './uses.ts'

export type Limits = {
  /** The request is counted as running until `leave` is called. */
  readonly enter: (caller: Caller) => Promise<{ readonly leave: () => void } | { readonly refusal: Refusal }>
  /** Tokens are known only after an answer, so a request may exceed the limit, and the next one waits. */
  readonly used: (name: KeyName, tokens: number) => void
}

export type LimitOptions = {
  readonly config: Pick<Config, 'keys' | 'whenStoreIsAway'>
  readonly now: () => number
  readonly log: Log
  readonly health: StoreHealth
  /** Shared by all processes. Undefined if there is only this one. */
  readonly shared: Uses | undefined
}

/** A request does not wait longer for a database that does not answer. */
const maxWaitMs = 2_000

export function createLimits({ config, now, log, health, shared }: LimitOptions): Limits {
  const own = usesInProcess(now)
  const running = new Map<string, number>()
  const counted = new Set(
    config.keys
      .filter(({ limits }) => limits?.tokensPerMinute !== undefined)
      .map(({ tenant, name }) => nameOf(tenant, name)),
  )
  const failed = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    if (error instanceof StoreError && error.reason === 'unavailable') health.failed(why)
    log('warn', 'limits-not-shared', { why })
  }
  /** While the database is unavailable, requests are refused or counted only here, as configured. */
  const enter = async (caller: Caller): Promise<OverLimit | 'away' | undefined> => {
    if (!shared) return own.enter(caller, caller.limits)
    if (health.problem() === undefined) {
      try {
        const over = await answered(shared.enter(caller, caller.limits))
        // Also counts here, for times when the database is unavailable.
        if (!over) await own.enter(caller, caller.limits)
        return over
      } catch (error) {
        failed(error)
      }
    }
    return config.whenStoreIsAway === 'refuse' ? 'away' : own.enter(caller, caller.limits)
  }
  return {
    enter: async (caller) => {
      const { requestsPerMinute, tokensPerMinute, concurrent } = caller.limits
      const name = nameOf(caller.tenant, caller.key)
      const count = running.get(name) ?? 0
      if (concurrent !== undefined && count >= concurrent)
        return { refusal: overLimit(`${concurrent} requests at a time`, 1) }
      running.set(name, count + 1)
      const leave = once(() => running.set(name, (running.get(name) ?? 1) - 1))
      if (requestsPerMinute === undefined && tokensPerMinute === undefined) return { leave }
      const over = await enter(caller)
      if (over === undefined) return { leave }
      leave()
      return { refusal: over === 'away' ? refusals.storeAway : refusalOf(over, caller) }
    },
    used: (name, tokens) => {
      if (!counted.has(nameOf(name.tenant, name.key))) return
      void own.used(name, tokens)
      if (health.problem() === undefined) shared?.used(name, tokens).catch(failed)
    },
  }
}

function nameOf(tenant: string, key: string): string {
  return JSON.stringify([tenant, key])
}

function refusalOf({ limit, waitMs }: OverLimit, { limits }: Caller): Refusal {
  const what = limit === 'requestsPerMinute' ? 'requests' : 'tokens'
  return overLimit(`${limits[limit]} ${what} a minute`, Math.max(1, Math.ceil(waitMs / 1_000)))
}

function once(call: () => void): () => void {
  let isCalled = false
  return () => {
    if (!isCalled) call()
    isCalled = true
  }
}

async function answered<T>(answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('The database did not count the request in time.')), maxWaitMs)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
