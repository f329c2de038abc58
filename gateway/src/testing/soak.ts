// `npm run soak:gateway`: three gateways on PostgreSQL, 200 conversations of 50 turns at once, with kills, pauses and restarts of the
// database. EVERLONG_SEED picks another order of events, EVERLONG_SOAK_CONVERSATIONS and EVERLONG_SOAK_TURNS another size.
import { performance } from 'node:perf_hooks'
import { postgresForTests } from '../../../engine/src/stores/testing/postgres-server.ts'
import { runScenario } from './scenario.ts'

const { EVERLONG_SEED, EVERLONG_SOAK_CONVERSATIONS, EVERLONG_SOAK_TURNS, EVERLONG_SOAK_SECONDS } = process.env
const database = await postgresForTests()
if (!database) process.exit(1)
const options = {
  ...{ conversations: Number(EVERLONG_SOAK_CONVERSATIONS ?? 200), turns: Number(EVERLONG_SOAK_TURNS ?? 50) },
  ...{ seed: Number(EVERLONG_SEED ?? 7), leaseMs: 2_000, everyMs: 1_500, restartEvery: 5 },
  maxMs: Number(EVERLONG_SOAK_SECONDS ?? 1_200) * 1_000,
}
const began = performance.now()
try {
  const { problems, ...counts } = await runScenario(database, options)
  console.log(`seed ${options.seed}, ${Math.round((performance.now() - began) / 1_000)} s:`, JSON.stringify(counts))
  for (const problem of problems.slice(0, 20)) console.error(problem)
  console.log(problems.length === 0 ? 'Nothing lost, duplicated or misplaced.' : `${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await database.stop()
}
