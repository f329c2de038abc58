// Worker processes that share sessions, disturbed. The long version is `npm run soak:stores`.
import { afterAll, expect, test } from 'vitest'
import { postgresForTests } from '../testing/postgres-server.ts'
import { runScenario } from '../testing/scenario.ts'

const server = await postgresForTests()
afterAll(() => server?.stop())

test.runIf(server)(
  'no entry is lost, duplicated or in the wrong session when workers are killed and paused',
  async () => {
    if (!server) return
    const options = { sessions: 8, turns: 15, seed: 1, kills: 6, pauses: 2, leaseMs: 800, everyMs: 400 }
    const report = await runScenario(server, options)
    expect(report.problems).toEqual([])
    expect(report.kills + report.pauses + report.restarts).toBeGreaterThan(0)
    expect(report.records).toBeGreaterThanOrEqual(6 * 8 * 2)
  },
)
