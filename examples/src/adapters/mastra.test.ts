import { expect, test } from 'vitest'
import { runAdapterContract } from './contract.ts'
import { wrongFigures } from './figures.ts'
import { hasMastra, mastraAdapter } from './mastra.ts'

const name = hasMastra ? 'Mastra goes on for 200 turns' : 'Mastra is not installed (bench/apart): skipped'

test.skipIf(!hasMastra)(name, { timeout: 400_000 }, async () => {
  const { broken, managed, bare } = await runAdapterContract(mastraAdapter)
  expect(broken).toEqual([])
  expect(wrongFigures('mastra.md', 'processor', managed)).toEqual([])
  expect(wrongFigures('mastra.md', 'without Everlong', bare)).toEqual([])
})
