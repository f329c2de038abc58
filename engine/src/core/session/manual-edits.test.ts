import { describe, expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import type { EngineSettings } from '../settings/table.ts'
import { failingMechanism, plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type WorldOptions } from './testing/world.ts'

/** Window 40,000, 4,000 for output: the threshold is 23,000. */
const small: EngineSettings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  blockingLimit: 33_000,
}
const other = { client: scripted(() => 'ok'), name: 'claude-opus-4-1' }

/** A conversation above the threshold of every model used here. */
function full(options: WorldOptions) {
  const world = createTestWorld({ settings: small, ...options })
  world.session.add({ role: 'user', content: 'Go.' })
  world.session.record(answerOf('lorem ipsum '.repeat(9_000), { usage: { ...noTokens, input: 24_000 } }))
  return world
}

test('a snip is a change: the next message of a person closes the breaker', async () => {
  const { session } = full({ compaction: [failingMechanism('broken')] })
  for (let at = 0; at < 3; at++) await session.prepare()
  expect(session.tracking().breaker.isOpen).toBe(true)
  const [first, last] = session.messages()
  expect(await session.snip({ from: first?.uuid ?? '', to: last?.uuid ?? '' })).toMatchObject({ type: 'done' })
  expect(session.tracking().breaker.isOpen).toBe(true)
  session.add({ role: 'user', content: 'And now?' })
  expect(session.tracking().breaker.isOpen).toBe(false)
})

describe('another model', () => {
  test('what does not fit it is compacted first, unless compaction is off', async () => {
    const compaction = [plainMechanism('In short.')]
    const switched = { type: 'switched', from: 'claude-opus-4-5', to: 'claude-opus-4-1' }
    expect(await full({ compaction }).session.useModel(other)).toMatchObject({
      ...switched,
      compaction: { type: 'compacted' },
    })
    expect(await full({ compaction, settings: { ...small, compaction: 'manual' } }).session.useModel(other)).toEqual(
      switched,
    )
  })

  test('what one server was asked to leave out is not asked of the next', async () => {
    const { session, runtime } = full({ settings: { ...small, compaction: 'manual' } })
    runtime.tracker.askServer({ leftOut: ['t1'], contextManagement: { edits: [{ type: 'clear_tool_uses_20250919' }] } })
    await session.useModel(other)
    expect(runtime.tracker.serverOptions()).toBeUndefined()
    expect(await session.prepare()).not.toHaveProperty('options')
  })

  test('a size that one model reported is told in tokens of the next, also after an answer without usage', async () => {
    const newer = { client: scripted(() => 'ok'), name: 'claude-opus-4-7' }
    const { session } = full({ settings: { ...small, compaction: 'manual' } })
    const before = session.explain().size.reported
    await session.useModel(newer)
    const switched = session.explain().size.reported
    session.add({ role: 'user', content: 'Go on.' })
    session.record({ id: 'msg_2', model: newer.name, content: [{ type: 'text', text: 'ok' }] })
    expect([before, switched, session.explain().size.reported]).toEqual([24_000, 30_720, 30_720])
    expect(session.messages().map(({ model }) => model)).toEqual([undefined, 'claude-opus-4-5', undefined, newer.name])
  })
})
