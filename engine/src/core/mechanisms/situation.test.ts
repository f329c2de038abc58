import { expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import type { View } from '../transcript/view/fold.ts'
import { situationOf } from './situation.ts'

test('a context that a reduction made smaller has not grown, and that step does not count', () => {
  const messages = [10_000, 20_000, 4_000, 14_000].map((input, at) => ({
    role: 'assistant' as const,
    content: 'ok',
    origin: 'assistant' as const,
    uuid: `a${at}`,
    usage: { ...noTokens, input },
  }))
  const sources = messages.map((one) => ({ uuids: [one.uuid], edits: [], pieces: [one], isPinned: false }))
  const view: View = { messages, sources, edits: [], pins: [], changed: new Set() }
  expect(situationOf(view, { now: 0, model: 'claude-opus-4-5' }).growth).toBe(10_000)
})

test.each([
  ['small ones', 10_000, 60_000],
  ['exactly a fifth of the threshold', 20_000, 60_000],
  ['large ones: half of the room beside them', 60_000, 80_000],
  ['larger than the threshold: no target can be reached, and none is made up', 120_000, 60_000],
])('what a compaction may leave with system prompt and tools: %s', (_, overhead, target) => {
  const view: View = { messages: [], sources: [], edits: [], pins: [], changed: new Set() }
  const settings = { autoCompactAt: 100_000 }
  expect(situationOf(view, { now: 0, model: 'claude-opus-4-5', settings, overhead }).target).toBe(target)
})
