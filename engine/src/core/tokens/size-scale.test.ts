import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ViewMessage } from '../message/message.ts'
import { noTokens } from '../message/usage.ts'
import { contextSize, sizeScale } from './context-size.ts'
import { countTokens } from './estimate/counting.ts'

const words = (count: number) => 'parse the record '.repeat(count)
const asked = (count: number): ViewMessage => ({ role: 'user', origin: 'human', content: words(count) })
const answered = (tokens?: number): ViewMessage => ({
  role: 'assistant',
  origin: 'assistant',
  content: 'Done.',
  ...(tokens === undefined ? {} : { usage: { ...noTokens, input: tokens } }),
})

/** A conversation of `turns` turns whose provider counts `factor` times our estimate and `constant` tokens more. */
function reported(turns: number, { factor, constant }: { readonly factor: number; readonly constant: number }) {
  const messages: ViewMessage[] = []
  for (let turn = 0; turn < turns; turn++) {
    messages.push(asked(700))
    const estimated = countTokens([...messages, answered()])
    messages.push(answered(Math.round(estimated * factor + constant)))
  }
  return messages
}

const scaleOf = (messages: readonly ViewMessage[], overhead = 0) =>
  sizeScale(messages, { overhead, size: contextSize(messages, { overhead }) })

describe('from an estimate to what the provider reports', () => {
  test.each([
    { factor: 0.8, constant: 0 },
    { factor: 1.3, constant: 0 },
    { factor: 1, constant: 25_000 },
    { factor: 1.2, constant: 40_000 },
  ])('a factor and a constant are told apart: %o', (truth) => {
    const { toReported } = scaleOf(reported(8, truth))
    for (const estimated of [500, 3_000, 12_000, 40_000]) {
      expect(Math.abs(toReported(estimated) - (estimated * truth.factor + truth.constant))).toBeLessThan(20)
    }
  })

  test('one answer alone shows a factor', () => {
    const messages = [asked(1_000), answered(6_000)]
    expect(scaleOf(messages).toReported(countTokens(messages))).toBe(6_000)
    expect(scaleOf(messages).toReported(countTokens(messages) / 2)).toBe(3_000)
  })

  test('without an answer sizes have the margin of all estimates', () => {
    const messages = [asked(3_000)]
    expect(Math.abs(scaleOf(messages).toReported(9_000) - 12_000)).toBeLessThanOrEqual(1)
  })

  test('what was estimated since the newest answer counts without its margin', () => {
    const messages = [...reported(4, { factor: 1, constant: 0 }), asked(900)]
    const estimated = countTokens(messages)
    expect(Math.abs(scaleOf(messages).toReported(estimated) - estimated)).toBeLessThan(10)
  })

  test('reports that do not follow the messages give a factor only', () => {
    const messages = [asked(900), answered(24_000), asked(900), answered(24_000)]
    expect(scaleOf(messages).toReported(countTokens(messages) / 2)).toBe(12_000)
  })

  test('answers of another model are converted', () => {
    const model = 'claude-opus-4-5'
    const messages = reported(6, { factor: 1, constant: 0 }).map((message) =>
      message.role === 'assistant' ? { ...message, model: 'gpt-5' } : message,
    )
    const size = { ...contextSize(messages, { model }), reported: countTokens(messages, { model }) }
    const { toReported } = sizeScale(messages, { model, size })
    expect(Math.abs(toReported(4_000) - 4_000)).toBeLessThan(20)
  })

  test('there and back is the same, and more is never less', () => {
    const truth = fc.record({ factor: fc.double({ min: 0.4, max: 2.5, noNaN: true }), constant: fc.nat(50_000) })
    const estimates = fc.tuple(fc.integer({ min: 10, max: 200_000 }), fc.integer({ min: 10, max: 200_000 }))
    fc.assert(
      fc.property(truth, fc.integer({ min: 1, max: 6 }), estimates, (how, turns, [one, other]) => {
        const { toReported, toEstimated } = scaleOf(reported(turns, how), 500)
        expect(Math.abs(toEstimated(toReported(one)) - one)).toBeLessThanOrEqual(3)
        expect(Math.sign(toReported(other) - toReported(one)) * Math.sign(other - one)).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 60 },
    )
  })
})
