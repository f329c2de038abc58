// `npm run soak:stores`: three workers over 100 sessions of 40 turns in PostgreSQL, killed and paused all the time, with one
// crash of the database. EVERLONG_SEED selects the order of events.
import { performance } from 'node:perf_hooks'
import { postgresForTests } from './postgres-server.ts'
import { runScenario } from './scenario.ts'

const server = await postgresForTests()
if (!server) process.exit(1)
const seed = Number(process.env.EVERLONG_SEED ?? 7)
const began = performance.now()
try {
  const options = { sessions: 100, turns: 40, seed, kills: 1_000, pauses: 1_000, leaseMs: 2_000, everyMs: 1_500 }
  const { problems, ...counts } = await runScenario(server, options)
  console.log(`seed ${seed}, ${Math.round((performance.now() - began) / 1_000)} s:`, JSON.stringify(counts))
  for (const problem of problems.slice(0, 20)) console.error(problem)
  console.log(problems.length === 0 ? 'Nothing lost, duplicated or misplaced.' : `${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await server.stop()
}
