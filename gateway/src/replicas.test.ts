// A small version of `npm run soak:gateway`.
import { afterAll, expect, test } from 'vitest'
import { postgresForTests } from '../../engine/src/stores/testing/postgres-server.ts'
import { runScenario } from './testing/scenario.ts'

const database = await postgresForTests()
afterAll(() => database?.stop())

test.runIf(database)(
  'three gateways that are killed and paused, and a database that restarts, lose, repeat and misplace nothing',
  async () => {
    if (!database) return
    const options = { conversations: 20, turns: 6, seed: 1, leaseMs: 600, everyMs: 350, restartEvery: 3 }
    const { problems, kills, restarts, pauses, replies } = await runScenario(database, { ...options, maxMs: 60_000 })
    expect(problems).toEqual([])
    expect(replies).toBe(20 * 7)
    expect([kills > 0, pauses > 0, restarts > 0]).toEqual([true, true, true])
  },
  120_000,
)
