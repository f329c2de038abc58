import { describe, expect, test } from 'vitest'
import {
  type AnswerSeen,
  type CacheWatch,
  changedWatch,
  freshWatch,
  type MissInput,
  missedBecause,
  noCacheEdits,
  type RequestParts,
  watchAnswer,
  withDeleted,
} from './cache-watch.ts'

const seen = (cacheRead: number, more: Partial<AnswerSeen> = {}): AnswerSeen => ({ cacheRead, time: 0, ...more })
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
    expect(watchAnswer(after(seen(before)), seen(now)).dropped > 0).toBe(isBroken)
  })

  test('cannot be told at the first answer', () => {
    expect(watchAnswer(freshWatch, seen(0))).toEqual({
      watch: { baseline: { cacheRead: 0, cached: 0, time: 0 }, deletedTokens: 0 },
      dropped: 0,
      isHit: false,
    })
  })

  test('is reported with its numbers, and the new reading is the baseline', () => {
    const { watch, dropped } = watchAnswer(after(seen(50_000)), seen(10_000))
    expect(dropped).toBe(40_000)
    expect(watchAnswer(watch, seen(10_000)).dropped).toBe(0)
  })

  test('is none when cache edits deleted what is missing; more than that is one', () => {
    const before = after(seen(50_000, { deletedTokens: 1_000 }))
    expect(watchAnswer(before, seen(31_000, { deletedTokens: 20_000 })).dropped).toBe(0)
    expect(watchAnswer(before, seen(20_000, { deletedTokens: 20_000 })).dropped).toBe(11_000)
    const next = watchAnswer(before, seen(31_000, { deletedTokens: 20_000 })).watch
    expect(watchAnswer(next, seen(31_000)).dropped).toBe(0)
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
  const causesOf = (now: RequestParts, more: Partial<MissInput> = {}) =>
    missedBecause({
      watch: known,
      before: request,
      now,
      idle: 60_000,
      lifetime: 300_000,
      answer: {},
      ...more,
    }).why.split('; ')
  const known: CacheWatch = { baseline: { cacheRead: 0, cached: 9_000, time: 0 }, deletedTokens: 0 }
  const unknown = 'no cause is known here'

  test.each<[string, Partial<RequestParts>, readonly string[]]>([
    ['another model', { model: 'other' }, ['the model changed from claude-opus-4-8 to other']],
    ['another system prompt', { system: 'be quick' }, ['the system prompt changed']],
    ['other tools', { tools: [] }, ['the tools changed']],
    [
      'another message',
      {
        messages: [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: '2' },
        ],
      },
      ['message 1 changed'],
    ],
    ['fewer messages', { messages: [] }, ['message 0 changed']],
    [
      'more messages explain nothing',
      { messages: [...request.messages, { role: 'user', content: 'three' }] },
      [unknown],
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
      [unknown],
    ],
    [
      'several at once, in the order of the prefix',
      { system: 'x', tools: [] },
      ['the tools changed', 'the system prompt changed'],
    ],
  ])('%s', (_, change, causes) => {
    expect(causesOf({ ...request, ...change })).toEqual(causes)
  })

  test('too long a pause', () => {
    expect(causesOf(request, { idle: 299_999 })).toEqual([unknown])
    expect(causesOf(request, { idle: 300_000 })).toEqual(['the cache expired after 5 minutes'])
  })

  test('as the API says', () => {
    const told = { diagnostics: { cache_miss_reason: { type: 'tools_changed', cache_missed_input_tokens: 900 } } }
    expect(causesOf(request, { answer: told })).toEqual([unknown, 'the API says tools_changed'])
    for (const answer of [{ diagnostics: { cache_miss_reason: null } }, { diagnostics: null }, {}, undefined]) {
      expect(causesOf(request, { answer })).toEqual([unknown])
    }
  })
})

describe('hit or miss', () => {
  test.each<[string, CacheWatch, AnswerSeen, boolean]>([
    ['the first request that read something', freshWatch, seen(900), true],
    ['the first request that read nothing', freshWatch, seen(0, { cacheWrite: 900 }), false],
    ['half of what was cached', after(seen(0, { cacheWrite: 50_000 })), seen(25_000), true],
    ['less than half of it', after(seen(0, { cacheWrite: 50_000 })), seen(24_999), false],
    ['a small prompt that read nothing', after(seen(0, { cacheWrite: 1_500 })), seen(0), false],
    ['nothing, where nothing was cached', after(seen(0)), seen(0), false],
    [
      'less, because that much was deleted',
      after(seen(0, { cacheWrite: 50_000 })),
      seen(20_000, { deletedTokens: 30_000 }),
      true,
    ],
  ])('is decided by usage: %s', (_, watch, answer, isHit) => {
    expect(watchAnswer(watch, answer).isHit).toBe(isHit)
  })

  const watch = after(seen(0, { cacheWrite: 50_000 }))
  const reason = (more: Partial<MissInput>) =>
    missedBecause({ watch, idle: 0, lifetime: 300_000, answer: {}, ...more }).reason
  const request = (system: string): RequestParts => ({ model: 'm', system, messages: [] })

  test.each<[string, Partial<MissInput>, string]>([
    ['no request before', { watch: freshWatch }, 'first-request'],
    ['nothing cached by it', { watch: after(seen(0)), idle: 900_000 }, 'not-cached'],
    ['exactly the lifetime', { idle: 300_000 }, 'expired'],
    ['a millisecond less', { idle: 299_999 }, 'unknown'],
    ['expired, and changed as well', { idle: 300_000, watch: changedWatch(watch) }, 'expired'],
    ['changed by Everlong', { watch: changedWatch(watch) }, 'prefix-changed'],
    ['changed by the host', { before: request('a'), now: request('b') }, 'prefix-changed'],
    ['changed, as the API says', { answer: { diagnostics: { cache_miss_reason: 'tools_changed' } } }, 'prefix-changed'],
    ['something else, as the API says', { answer: { diagnostics: { cache_miss_reason: 'unavailable' } } }, 'unknown'],
    ['nothing known', {}, 'unknown'],
  ])('a miss has a reason: %s', (_, more, expected) => {
    expect(reason(more)).toBe(expected)
  })

  test('what was cached before a change still decides, and the change is forgotten with the answer', () => {
    const changed = changedWatch(watch)
    expect(watchAnswer(changed, seen(40_000))).toMatchObject({ isHit: true, dropped: 0 })
    const { watch: next, ...missed } = watchAnswer(changed, seen(5_000, { cacheWrite: 20_000 }))
    expect([missed, next]).toEqual([
      { dropped: 45_000, isHit: false },
      { baseline: { cacheRead: 5_000, cached: 25_000, time: 0 }, deletedTokens: 0 },
    ])
  })
})

test('deletions are remembered in order, each once, and are the same value when nothing is new', () => {
  const state = withDeleted(noCacheEdits, ['c', 'a', 'c'], 900)
  expect(state).toEqual({ deleted: ['c', 'a'], ends: ['a'], asked: 900 })
  expect(withDeleted(state, ['a', 'c'])).toBe(state)
  expect(withDeleted(state, ['d'], 100)).toEqual({ deleted: ['c', 'a', 'd'], ends: ['a', 'd'], asked: 1_000 })
})
