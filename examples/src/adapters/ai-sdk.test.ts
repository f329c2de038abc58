// The AI SDK with its Anthropic provider, unchanged, over HTTP on this machine.
import { expect, test } from 'vitest'
import { aiSdkAdapters } from './ai-sdk.ts'
import { runAdapterContract } from './contract.ts'

test.each(aiSdkAdapters)('$name goes on for 200 turns in a window for 30', { timeout: 300_000 }, async (adapter) => {
  const { broken, managed } = await runAdapterContract(adapter)
  expect(broken).toEqual([])
  expect(managed.facts).toBe(10)
})
