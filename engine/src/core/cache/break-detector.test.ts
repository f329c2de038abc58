import { describe, expect, test } from 'vitest'
import {
  type AnswerSeen,
  afterCompaction,
  type BreakCause,
  type CacheWatch,
  freshWatch,
  readDiagnosis,
  watchAnswer,
} from './break-detector.ts'
import { fingerprintOf as printOf, type RequestParts } from './fingerprint.ts'

const seen = (cacheRead: number, more: Partial<AnswerSeen> = {}): AnswerSeen => ({ usage: { cacheRead }, ...more })
const after = (first: AnswerSeen): CacheWatch => watchAnswer(freshWatch, first).watch

describe('a cache break', () => {
  // More than 5 % and more than 2,000 tokens.
  test.each<[string, number, number, boolean]>([
    ['a drop of 5 % is none', 100_000, 95_000, false],
    ['a drop of more than 5 % is one', 100_000, 94_999, true],
    ['2,000 tokens are none, though 50 %', 4_000, 2_000, false],
    ['2,001 tokens are one', 4_000, 1_999, true],
    ['more than before is none', 50_000, 60_000, false],
    ['nothing at all is one', 50_000, 0, true],
    ['nothing after nothing is none', 0, 0, false],
  ])('%s', (_, before, now, isBroken) => {
    expect(watchAnswer(after(seen(before)), seen(now)).found !== undefined).toBe(isBroken)
  })

  test('cannot be told at the first answer', () => {
    expect(watchAnswer(freshWatch, seen(0))).toEqual({
      watch: { baseline: { cacheRead: 0, time: undefined, print: undefined }, deletedTokens: 0 },
    })
  })

  test('is reported with its numbers, and the new reading is the baseline', () => {
    const { watch, found } = watchAnswer(after(seen(50_000)), seen(10_000))
    expect(found).toEqual({
      type: 'cache-broken',
      expected: 50_000,
      read: 10_000,
      dropped: 40_000,
      causes: [{ type: 'unknown' }],
    })
    expect(watchAnswer(watch, seen(10_000)).found).toBeUndefined()
  })

  test('is none after a compaction', () => {
    expect(watchAnswer(afterCompaction(after(seen(50_000))), seen(3_000)).found).toBeUndefined()
    expect(afterCompaction(freshWatch)).toBe(freshWatch)
  })

  test('is none when cache edits deleted what is missing; more than that is one', () => {
    const before = after(seen(50_000, { deletedTokens: 1_000 }))
    expect(watchAnswer(before, seen(31_000, { deletedTokens: 20_000 })).found).toBeUndefined()
    expect(watchAnswer(before, seen(20_000, { deletedTokens: 20_000 })).found).toMatchObject({
      expected: 31_000,
      dropped: 11_000,
    })
    const next = watchAnswer(before, seen(31_000, { deletedTokens: 20_000 })).watch
    expect(watchAnswer(next, seen(31_000)).found).toBeUndefined()
  })
})

describe('why a cache broke', () => {
  const request: RequestParts = {
    model: 'claude-opus-4-8',
    system: 'be kind',
    tools: [{ name: 'Read' }],
    messages: [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
    ],
  }
  const causesOf = (next: RequestParts, more: Partial<AnswerSeen> = {}) => {
    const before = after(seen(50_000, { print: printOf(request), time: 0 }))
    return watchAnswer(before, seen(0, { print: printOf(next), time: 60_000, lifetime: 300_000, ...more })).found
      ?.causes
  }

  test.each<[string, Partial<RequestParts>, readonly BreakCause[]]>([
    ['another model', { model: 'other' }, [{ type: 'model-changed', from: 'claude-opus-4-8', to: 'other' }]],
    ['another system prompt', { system: 'be quick' }, [{ type: 'system-changed' }]],
    ['other tools', { tools: [] }, [{ type: 'tools-changed' }]],
    [
      'another message',
      {
        messages: [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: '2' },
        ],
      },
      [{ type: 'messages-changed', message: 1 }],
    ],
    ['fewer messages', { messages: [] }, [{ type: 'messages-changed', message: 0 }]],
    [
      'more messages explain nothing',
      { messages: [...request.messages, { role: 'user', content: 'three' }] },
      [{ type: 'unknown' }],
    ],
    [
      'a marker of the cache that moved, and text as a block, are no change',
      {
        system: [{ type: 'text', text: 'be kind', cache_control: { type: 'ephemeral' } }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'one', cache_control: { type: 'ephemeral' } }] },
          { role: 'assistant', content: 'two' },
        ],
      },
      [{ type: 'unknown' }],
    ],
    [
      'several at once, in the order of the prefix',
      { system: 'x', tools: [] },
      [{ type: 'tools-changed' }, { type: 'system-changed' }],
    ],
  ])('%s', (_, change, causes) => {
    expect(causesOf({ ...request, ...change })).toEqual(causes)
  })

  test('too long a pause', () => {
    const expired = { type: 'expired', idle: 300_000, lifetime: 300_000 }
    expect(causesOf(request, { time: 299_999 })).toEqual([{ type: 'unknown' }])
    expect(causesOf(request, { time: 300_000 })).toEqual([expired])
  })

  test('as the API says', () => {
    const answer = { diagnostics: { cache_miss_reason: { type: 'tools_changed', cache_missed_input_tokens: 900 } } }
    expect(watchAnswer(after(seen(9_000)), seen(0, { answer })).found?.diagnosis).toEqual({
      reason: 'tools_changed',
      missedTokens: 900,
    })
    expect(
      [{ diagnostics: { cache_miss_reason: null } }, { diagnostics: null }, {}, undefined].map(readDiagnosis),
    ).toEqual(Array(4).fill(undefined))
  })
})
