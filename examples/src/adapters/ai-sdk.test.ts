// The AI SDK with its Anthropic provider, unchanged, over HTTP on this machine.
import { type EngineEvent, offline } from 'everlong'
import { everlong } from 'everlong/ai-sdk'
import { expect, test } from 'vitest'
import { aiSdkAdapters } from './ai-sdk.ts'
import { runAdapterContract } from './contract.ts'
import { wrongFigures } from './figures.ts'
import { windowOf, windowsIn } from './windows.ts'

test.each(aiSdkAdapters)('$name goes on for 200 turns', { timeout: 300_000 }, async (adapter) => {
  const { broken, managed, bare } = await runAdapterContract(adapter)
  expect(broken).toEqual([])
  const row = adapter.name.replace('AI SDK, ', '')
  expect(wrongFigures('ai-sdk.md', row, managed)).toEqual([])
  expect(wrongFigures('ai-sdk.md', 'without Everlong', bare)).toEqual([])
})

test('a step whose model is only named counts by that name, not by the model that writes the summaries', async () => {
  const events: EngineEvent[] = []
  const managed = everlong({ model: offline(), environment: {}, onEvent: (event) => void events.push(event) })
  const messages = [{ role: 'user' as const, content: 'Hello.' }]
  await managed.prepareStep({ messages, model: 'claude-haiku-4-5', steps: [], instructions: '', runtimeContext: {} })
  await managed.close()
  expect(new Set(windowsIn(events))).toEqual(new Set([await windowOf('claude-haiku-4-5')]))
})
