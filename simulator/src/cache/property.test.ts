// Property: whatever a conversation does, usage adds up, and nothing is read that was not sent before.

import { isObject } from 'everlong/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { turnableClock } from '../ports.ts'
import { ask, simulate } from '../testing/ask.ts'

const words = ['alpha', 'beta', 'gamma', 'delta']
const block = fc.record({
  word: fc.constantFrom(...words),
  size: fc.constantFrom(5, 300, 700),
  isMarked: fc.boolean(),
})
/** One step: what is kept of the conversation, what is added, and how much time goes by before. */
const step = fc.record({
  keep: fc.nat({ max: 12 }),
  add: fc.array(block, { minLength: 1, maxLength: 4 }),
  minutes: fc.constantFrom(0, 1, 4, 6),
  effort: fc.constantFrom('low', 'high'),
})

test('input, read and written make the whole prompt, and what is read was sent within its lifetime', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const clock = turnableClock()
      const simulator = simulate({ clock })
      const sent: { time: number; effort: string; texts: readonly string[] }[] = []
      let blocks: { text: string; isMarked: boolean }[] = []
      for (const { keep, add, minutes, effort } of steps) {
        clock.turn(minutes * 60_000)
        blocks = [
          ...blocks.slice(0, keep),
          ...add.map(({ word, size, isMarked }) => ({ text: `${word} `.repeat(size), isMarked })),
        ]
        let marks = 0
        const content = blocks.map(({ text, isMarked }) => {
          const mark = isMarked && ++marks <= 4 ? { cache_control: { type: 'ephemeral' } } : {}
          return { type: 'text', text, ...mark }
        })
        const request = {
          model: 'claude-opus-5',
          output_config: { effort: effort },
          messages: [{ role: 'user', content }],
        }
        const counted = await ask(simulator, request, { path: '/v1/messages/count_tokens' })
        const told = await ask(simulator, { ...request, max_tokens: 5 })
        const usage = isObject(told.body.usage) ? told.body.usage : {}
        const read = Number(usage.cache_read_input_tokens)
        const whole = read + Number(usage.input_tokens) + Number(usage.cache_creation_input_tokens)
        expect(whole).toBe(counted.body.input_tokens)
        const texts = content.map(({ text }) => text)
        const alive = sent.filter((past) => past.effort === effort && clock.now() - past.time < 5 * 60_000)
        const common = Math.max(
          0,
          ...alive.map((past) => tokensOf(commonPrefix(past.texts, texts), simulator.countTokens)),
        )
        expect(read).toBeLessThanOrEqual(common)
        if (read > 0) expect(read).toBeGreaterThanOrEqual(512)
        sent.push({ time: clock.now(), effort, texts })
      }
    }),
    { numRuns: 60 },
  )
})

function commonPrefix(a: readonly string[], b: readonly string[]): readonly string[] {
  const end = a.findIndex((text, at) => text !== b[at])
  return end < 0 ? a : a.slice(0, end)
}

function tokensOf(texts: readonly string[], count: (text: string) => number): number {
  return texts.reduce((sum, text) => sum + count(text), 4)
}
