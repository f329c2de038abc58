// An agent of each SDK through the contract, over HTTP on this machine. `npm run test:adapters` does it with 200 turns.
import { expect, test } from 'vitest'
import { runAdapterContract } from './contract.ts'
import { hasMastra } from './mastra.ts'
import { describedAdapters } from './pages.ts'

test.each(describedAdapters)('$page: $adapter.name keeps the contract', { timeout: 120_000 }, async ({ adapter }) => {
  // So few turns are only cleared by default.
  const options = { turns: 12, window: 20_000, linesPerPart: 100, economy: 'claude-code' } as const
  const { broken } = await runAdapterContract(adapter, options)
  expect(broken).toEqual([])
})

test.skipIf(!hasMastra)('Mastra is installed in bench/apart, so that its adapter is among them', () => {
  expect(describedAdapters.map(({ page }) => page)).toContain('mastra.md')
})
