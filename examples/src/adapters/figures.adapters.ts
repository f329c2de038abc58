// The figures on the pages of the adapters: the conversation of 200 turns that they describe, measured again.
import { expect, test } from 'vitest'
import { runAdapterContract } from './contract.ts'
import { wrongFigures } from './figures.ts'
import { describedAdapters } from './pages.ts'

test.each(describedAdapters)('$page: $adapter.name goes on for 200 turns', async ({ page, adapter, row, bareRow }) => {
  const { broken, managed, bare } = await runAdapterContract(adapter, { turns: 200 })
  expect(broken).toEqual([])
  expect([...wrongFigures(page, row, managed), ...wrongFigures(page, bareRow, bare)]).toEqual([])
})
