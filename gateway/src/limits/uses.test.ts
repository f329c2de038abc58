// What is counted, in one process and in a database, with the same rules.
import { connect } from 'everlong/internal/node'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { postgresForTests } from '../../../engine/src/stores/testing/postgres-server.ts'
import { type PostgresState, postgresState } from '../state/postgres.ts'
import { type Uses, usesInProcess } from './uses.ts'

const database = await postgresForTests()
const states: PostgresState[] = []
afterAll(async () => {
  for (const state of states) await state.close()
  await database?.stop()
})

type Counted = { readonly uses: Uses; readonly passTime: (ms: number) => Promise<void> }

const inProcess = (): Counted => {
  let now = 0
  return {
    uses: usesInProcess(() => now),
    passTime: async (ms) => {
      now += ms
    },
  }
}

let schemas = 0
/** Time passes by moving what was counted into the past. Two connections, as two gateways have. */
const inDatabase = async (): Promise<Counted> => {
  const schema = `uses_${++schemas}`
  const connected = () => postgresState(connect({ url: database?.url ?? '' }, 2), schema)
  const [one, other] = [connected(), connected()]
  states.push(one, other)
  await one.ready()
  let turn = 0
  const next = (): Uses => (turn++ % 2 === 0 ? one : other).uses as Uses
  return {
    uses: { enter: (...given) => next().enter(...given), used: (...given) => next().used(...given) },
    passTime: async (ms) =>
      void (await database?.query(`UPDATE ${schema}.use SET second = second - $1`, [Math.ceil(ms / 1_000)])),
  }
}

const ann = { tenant: 'acme', key: 'ann' }
const requests = (max: number) => ({ requestsPerMinute: max })
const tokens = (max: number) => ({ tokensPerMinute: max })

const places = [
  { name: 'in a process', make: async () => inProcess() },
  ...(database ? [{ name: 'in a database', make: inDatabase }] : []),
]

describe.each(places)('$name', ({ make }) => {
  let uses: Uses
  let passTime: Counted['passTime']
  beforeEach(async () => {
    ;({ uses, passTime } = await make())
  })
  const isAllowed = async (name = ann, limits: object = requests(3)) => (await uses.enter(name, limits)) === undefined

  test('exactly as many requests as allowed, however many come at once', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => isAllowed()))
    expect(results.filter(Boolean)).toHaveLength(3)
  })

  test('a refused request counts nothing, and is told how long to wait', async () => {
    for (let at = 0; at < 3; at++) await isAllowed()
    await passTime(30_000)
    for (let at = 0; at < 5; at++) expect(await isAllowed()).toBe(false)
    const over = await uses.enter(ann, requests(3))
    expect(over).toEqual({ limit: 'requestsPerMinute', waitMs: expect.any(Number) })
    expect(over?.waitMs).toBeGreaterThan(28_000)
    expect(over?.waitMs).toBeLessThanOrEqual(31_000)
    await passTime(31_000)
    expect([await isAllowed(), await isAllowed(), await isAllowed(), await isAllowed()]).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test('what was used earlier is free again earlier', async () => {
    await isAllowed()
    await passTime(40_000)
    await isAllowed()
    await isAllowed()
    await passTime(21_000)
    expect([await isAllowed(), await isAllowed()]).toEqual([true, false])
  })

  test('not before a minute has passed', async () => {
    for (let at = 0; at < 3; at++) await isAllowed()
    await passTime(59_000)
    expect(await isAllowed()).toBe(false)
  })

  test('tokens: below the limit one more request may pass; at the limit none', async () => {
    await uses.used(ann, 9)
    expect(await isAllowed(ann, tokens(10))).toBe(true)
    await uses.used(ann, 1)
    expect(await uses.enter(ann, { ...requests(99), ...tokens(10) })).toMatchObject({ limit: 'tokensPerMinute' })
    expect(await isAllowed(ann, tokens(11))).toBe(true)
    await passTime(61_000)
    expect(await isAllowed(ann, tokens(10))).toBe(true)
  })

  test('tokens are no requests, and no tokens are nothing', async () => {
    await uses.used(ann, 5)
    await uses.used(ann, 0)
    const results = [await isAllowed(), await isAllowed(), await isAllowed(), await isAllowed()]
    expect(results).toEqual([true, true, true, false])
  })

  test('each key by itself, also with the same name in another tenant, or with a name that looks like both', async () => {
    const others = [
      { tenant: 'acme', key: 'bob' },
      { tenant: 'rivals', key: 'ann' },
      { tenant: 'acme","ann', key: '' },
      { tenant: '', key: 'acme ann' },
    ]
    for (let at = 0; at < 3; at++) await isAllowed()
    for (const other of others) expect([await isAllowed(other), await isAllowed()]).toEqual([true, false])
  })

  test('a limit that was lowered holds at once', async () => {
    for (let at = 0; at < 3; at++) await isAllowed()
    await passTime(1_000)
    expect([await isAllowed(ann, requests(2)), await isAllowed(ann, requests(4))]).toEqual([false, true])
  })
})

describe.runIf(database)('the database', () => {
  const thisSecond = async () => {
    const [row] = (await database?.query('SELECT floor(extract(epoch FROM clock_timestamp())) AS second')) ?? []
    return String(row?.second)
  }

  test('counts a second until all of it is a minute ago', async () => {
    let isWithinOneSecond = false
    while (!isWithinOneSecond) {
      const { uses, passTime } = await inDatabase()
      const start = await thisSecond()
      await uses.enter(ann, requests(1))
      await passTime(60_000)
      const over = await uses.enter(ann, requests(1))
      isWithinOneSecond = start === (await thisSecond())
      if (isWithinOneSecond) expect(over).toMatchObject({ limit: 'requestsPerMinute' })
    }
  })

  /** Transactions that keep others from writing to the table. */
  const lockedBy = async () => {
    const locks = `SELECT count(*)::int AS held FROM pg_locks WHERE granted AND mode = 'ExclusiveLock'
      AND relation = 'uses_${schemas}.use'::regclass`
    return (await database?.query(locks))?.[0]?.held
  }

  test('counts requests that wait for it together one after the other', async () => {
    for (let round = 0; round < 4; round++) {
      const { uses } = await inDatabase()
      const wait = `LOCK TABLE uses_${schemas}.use IN EXCLUSIVE MODE; SELECT pg_sleep(0.2)`
      const waiting = database?.query(`BEGIN; ${wait}; COMMIT`)
      await expect.poll(lockedBy).toBe(1)
      const results = await Promise.all(Array.from({ length: 4 }, () => uses.enter(ann, requests(1))))
      await waiting
      expect(results.filter((over) => over === undefined)).toHaveLength(1)
    }
  })

  test('keeps rows of the last minute only', async () => {
    const { uses, passTime } = await inDatabase()
    await uses.enter(ann, requests(3))
    await passTime(61_000)
    await uses.enter(ann, requests(3))
    expect(await database?.query(`SELECT tenant, key, requests FROM uses_${schemas}.use`)).toEqual([
      { tenant: 'acme', key: 'ann', requests: '1' },
    ])
  })
})
