import { expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import { answerOf, createTestWorld } from './testing/world.ts'

test('a crossing is told when it gets worse, and not when it gets better', async () => {
  const world = createTestWorld({ settings: { contextWindow: 40_000, maxOutputTokens: 4_000, compaction: 'manual' } })
  const sizes = [1_000, 33_000, 33_100, 1_000, 33_000]
  const told: number[] = []
  for (const [nth, input] of sizes.entries()) {
    world.session.add({ role: 'user', content: 'Go.' })
    world.session.record(answerOf('ok', { id: `msg-${nth}`, usage: { ...noTokens, input } }))
    await world.session.prepare()
    if (world.events.splice(0).some(({ type }) => type === 'threshold-crossed')) told.push(nth)
  }
  expect(told).toEqual([1, 4])
})

test('what the host asks for goes with every request, beside what was delegated to the server', async () => {
  const asked = { edits: [{ type: 'compact_20260112' }] }
  const world = createTestWorld({ base: { betas: ['one'], options: { context_management: asked, top_k: 5 } } })
  world.session.add({ role: 'user', content: 'Go.' })
  expect(await world.session.prepare()).toMatchObject({
    betas: ['one'],
    options: { top_k: 5, context_management: asked },
  })
})
