// Limits of keys over two gateways on one database.
import { afterAll, describe, expect, test } from 'vitest'
import { postgresForTests } from '../../../engine/src/stores/testing/postgres-server.ts'
import { cuttable } from '../testing/cuttable.ts'
import { annsKey, ask, bobsKey, clientWith, closeAfterTest, started } from '../testing/started.ts'

const database = await postgresForTests()
afterAll(() => database?.stop())

let schemas = 0

type Options = { readonly limits: object; readonly config?: object; readonly url?: string }

/** The key of bob, in another tenant, has the same name and the same limits. */
async function two({ limits, config = {}, url = database?.url ?? '' }: Options) {
  const schema = `limits_${++schemas}`
  const keys = [
    { name: 'dev', tenant: 'acme', secrets: [annsKey], limits },
    { name: 'dev', tenant: 'rivals', secrets: [bobsKey], limits },
    { name: 'ops', tenant: 'acme', secrets: ['c'.repeat(32)], limits },
  ]
  const store = { postgres: url, schema, connections: 4 }
  const setups = [
    await started({ config: { keys, store, ...config } }),
    await started({ config: { keys, store, ...config } }),
  ]
  const send = async (at: number, key = annsKey): Promise<number> => {
    const asked = ask(clientWith(setups[at % 2]?.url ?? '', key), 'Hello.')
    return asked.then(
      () => 200,
      ({ status }: { readonly status: number }) => status,
    )
  }
  return {
    setups,
    /** The statuses of so many requests at once, which take turns between the gateways. */
    sendMany: async (count: number, key?: string) =>
      (await Promise.all(Array.from({ length: count }, (_, at) => send(at, key)))).toSorted(),
    send,
    passMinute: async () => void (await database?.query(`UPDATE ${schema}_gateway.use SET second = second - 61`)),
  }
}

const statuses = (allowed: number, refused: number) => [...Array(allowed).fill(200), ...Array(refused).fill(429)]

describe.runIf(database)('two gateways on one database', () => {
  test('allow together what the limit says, to each key of each tenant, and again after a minute', async () => {
    const { sendMany, passMinute, setups } = await two({ limits: { requestsPerMinute: 5 } })
    expect(await sendMany(12)).toEqual(statuses(5, 7))
    expect(await sendMany(6, bobsKey)).toEqual(statuses(5, 1))
    expect(await sendMany(6, 'c'.repeat(32))).toEqual(statuses(5, 1))
    await passMinute()
    expect(await sendMany(7)).toEqual(statuses(5, 2))
    expect(setups.reduce((sum, { server }) => sum + server.simulator.meter.totals().requests, 0)).toBe(20)
    const refused = setups.flatMap(({ lines }) => lines.filter(({ event }) => event === 'refused'))
    expect(new Set(refused.map(({ status, reason }) => `${status} ${reason}`))).toEqual(
      new Set(['429 rate_limit_error']),
    )
  })

  test('refuse at one what the other has used, with the time until then', async () => {
    const { send, setups } = await two({ limits: { requestsPerMinute: 2 } })
    expect([await send(0), await send(0), await send(1)]).toEqual([200, 200, 429])
    const error = await ask(clientWith(setups[1]?.url ?? '', annsKey), 'Hello.').catch((reason: unknown) => reason)
    const seconds = Number((error as { readonly headers: Headers }).headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(50)
    expect(seconds).toBeLessThanOrEqual(61)
  })

  test('count the tokens of both', async () => {
    const { send, setups, passMinute } = await two({ limits: { tokensPerMinute: 10 } })
    const settled = async () => {
      for (const { gateway } of setups) await gateway.settled()
    }
    expect(await send(0)).toBe(200)
    await settled()
    await expect.poll(() => send(1), { timeout: 5_000 }).toBe(429)
    expect(await send(0)).toBe(429)
    expect(await send(0, bobsKey)).toBe(200)
    await passMinute()
    expect(await send(1)).toBe(200)
  })

  test.each([
    ['pass', [200, 200, 429, 200, 200, 429]],
    ['refuse', [503, 503, 503, 503, 503, 503]],
  ] as const)(
    'while the database is away, %s: each counts for itself, or requests are refused',
    async (choice, expected) => {
      const line = closeAfterTest(await cuttable(database?.url ?? ''))
      const config = { whenStoreIsAway: choice, limits: { storeMs: 1 } }
      const { send, setups } = await two({ limits: { requestsPerMinute: 3 }, url: line.url, config })
      expect([await send(0), await send(1)]).toEqual([200, 200])
      for (const { gateway } of setups) await gateway.settled()
      line.cut()
      const results: number[] = []
      for (const at of [0, 0, 0, 1, 1, 1]) results.push(await send(at))
      expect(results).toEqual(expected)
      line.restore()
      await expect
        .poll(async () => (await fetch(`${setups[0]?.url}/readyz`)).json(), { timeout: 10_000 })
        .toEqual({ status: 'ready' })
      // The database knows of two.
      await expect
        .poll(async () => (await fetch(`${setups[1]?.url}/readyz`)).json(), { timeout: 10_000 })
        .toEqual({ status: 'ready' })
      expect([await send(0), await send(1)]).toEqual([200, 429])
    },
    40_000,
  )
})
