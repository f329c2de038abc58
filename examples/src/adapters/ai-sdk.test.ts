import { type EngineEvent, offline } from 'everlong'
import { everlong } from 'everlong/ai-sdk'
import { expect, test } from 'vitest'
import { windowOf, windowsIn } from './windows.ts'

test('a step whose model is only named counts by that name, not by the model that writes the summaries', async () => {
  const events: EngineEvent[] = []
  const managed = everlong({ model: offline(), environment: {}, onEvent: (event) => void events.push(event) })
  const messages = [{ role: 'user' as const, content: 'Hello.' }]
  await managed.prepareStep({ messages, model: 'claude-haiku-4-5', steps: [], instructions: '', runtimeContext: {} })
  await managed.close()
  expect(new Set(windowsIn(events))).toEqual(new Set([await windowOf('claude-haiku-4-5')]))
})
