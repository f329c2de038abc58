import { afterAll, expect, test } from 'vitest'
import { postgresForTests } from '../../engine/src/stores/testing/postgres-server.ts'
import { runExample } from './simulated/run.ts'

const server = await postgresForTests()
afterAll(() => server?.stop())

test.runIf(server)('three workers share the sessions of one database', async () => {
  const { exitCode, lines, stderr } = await runExample('postgres-workers', { env: { DATABASE_URL: server?.url ?? '' } })
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(lines.filter((line) => /^worker \d in chat-with-\w+: answered$/.test(line))).toHaveLength(6)
  expect(lines.slice(6)).toEqual([
    'chat-with-ann: 2 prompts',
    'chat-with-bob: 2 prompts',
    'chat-with-cleo: 2 prompts',
    'sessions erased for ann: 1',
  ])
})
