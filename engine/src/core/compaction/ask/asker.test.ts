import { expect, test } from 'vitest'
import { noTokens } from '../../message/usage.ts'
import type { AbortSignalPort } from '../../ports/model.ts'
import { scripted } from '../../session/testing/world.ts'
import { ask } from './asker.ts'

test('a broken stream is asked for again after a pause, and after a longer one the next time', async () => {
  const waits: number[] = []
  const model = scripted(() => ({ type: 'failed', reason: 'transient', message: 'reset', tries: 1 }))
  const wait = (ms: number, signal?: AbortSignalPort) =>
    new Promise<void>((resolve) => {
      if (ms >= 30_000) return signal?.addEventListener('abort', () => resolve())
      waits.push(ms)
      resolve()
    })
  const run = { ports: { model, wait, emit: () => undefined }, tried: [], usage: noTokens, attempts: 0 }
  const request = { source: 'compact', model: model.model, messages: [] } as const
  const asked = await ask(run as never, {
    mechanism: 'direct',
    request,
    prompt: '',
    sourceTokens: 9,
    sends: 3,
    countTokens: () => 1,
  })
  expect(asked).toMatchObject({ type: 'failed', reason: 'api-error' })
  expect([model.requests.length, run.attempts]).toEqual([3, 3])
  expect(waits).toEqual([1_000, 2_000])
})
