// The AI SDK with its Anthropic provider, unchanged, over HTTP on this machine.
import { expect, test } from 'vitest'
import { aiSdkAdapters } from './ai-sdk.ts'
import { runAdapterContract } from './contract.ts'
import { wrongFigures } from './figures.ts'

test.each(aiSdkAdapters)('$name goes on for 200 turns', { timeout: 300_000 }, async (adapter) => {
  const { broken, managed, bare } = await runAdapterContract(adapter)
  expect(broken).toEqual([])
  const row = adapter.name.replace('AI SDK, ', '')
  expect(wrongFigures('ai-sdk.md', row, managed)).toEqual([])
  expect(wrongFigures('ai-sdk.md', 'without Everlong', bare)).toEqual([])
})
