import { describe, expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import type { CacheState } from '../cache/economics.ts'
import { worthOf } from '../cache/economics.ts'
import { deepFrozen } from '../message/json.ts'
import { explainReductions, reductions, reductionsWith, worthInWords } from './lists.ts'
import { type SituationInput, situationOf } from './situation.ts'
import { text, viewOf } from './testing/examples.ts'

const start = Date.parse('2026-03-02T09:00:00.000Z')
const minute = 60_000

/** Six results of `tokens` each, in a session that was just answered. */
function view(tokens: number) {
  const told = session({ startTime: new Date(start).toISOString() }).user('go')
  for (let at = 1; at <= 6; at++) {
    told.assistant([{ type: 'tool_use', id: `t${at}`, name: 'Bash', input: { command: `run ${at}` } }], {
      model: 'claude-opus-4-8',
    })
    told.toolResult(`t${at}`, text(tokens))
  }
  return viewOf(told.assistant('done', { model: 'claude-opus-4-8' }).records)
}

const explained = (tokens: number, input: Partial<SituationInput> = {}) => {
  const seen = deepFrozen(view(tokens))
  const all = explainReductions(seen, situationOf(seen, { now: start + minute, estimator: 'chars/4', ...input }))
  const shown = all.map(({ mechanism, outcome, worth }) => {
    const found = outcome.type === 'declined' ? outcome.reason : outcome.freed
    return [mechanism, { outcome: found, freed: worth?.freed }] as const
  })
  return Object.fromEntries(shown)
}

describe('what each reduction would do now', () => {
  test('is asked of all of them, in their order', () => {
    expect(Object.keys(explained(20_000))).toEqual(reductions.map(({ name }) => name))
  })

  test('a long pause comes first, because clearing is free then; a cached prefix is cleared by size last', () => {
    const named = ['micro-by-idle', 'micro-by-cache-edit', 'micro-by-size']
    expect(reductions.map(({ name }) => name).filter((name) => named.includes(name))).toEqual(named)
  })

  test('is a plan with its sum, or why not', () => {
    const reductionChoices = { microCompact: 'always' } as const
    expect(explained(20_000, { reductions: reductionChoices, expectedTurns: 100 })).toMatchObject({
      'micro-by-size': { outcome: 59_919, freed: 59_919 },
      'micro-by-idle': { outcome: 'not-idle', freed: undefined },
      'micro-by-cache-edit': { outcome: 'client-unable', freed: undefined },
      native: { outcome: 'client-unable', freed: undefined },
    })
  })

  test('comes with the sum of what a rule about when holds back', () => {
    expect(explained(11_000, { settings: { contextWindow: 400_000 } })['micro-by-size']).toEqual({
      outcome: 'below-warning',
      freed: 32_919,
    })
    expect(explained(8_000, { reductions: { microCompact: 'always' } })['micro-by-size']).toEqual({
      outcome: 'too-little',
      freed: 7_973,
    })
  })

  test('comes without a sum where a person turned it off', () => {
    const off = { outcome: 'turned-off', freed: undefined }
    expect(explained(20_000, { reductions: { microCompact: false } })).toMatchObject({
      'micro-by-size': off,
      'micro-by-idle': off,
      'micro-by-cache-edit': off,
    })
  })
})

describe('the sum in words', () => {
  const warm: CacheState = { type: 'warm', lifetime: 300_000 }
  const price = { input: 10, output: 50 }
  test.each([
    [
      worthOf({ freed: 50_000, suffix: 10_000, turns: 20, cache: warm, price }),
      '50,000 tokens × 20 turns × 0.1 save 100,000; 10,000 tokens written again × 1.15 cost 11,500: pays by 88,500 (+$0.885).',
    ],
    [
      worthOf({ freed: 2_000, suffix: 50_000, turns: 20, cache: warm, price }),
      '2,000 tokens × 20 turns × 0.1 save 4,000; 50,000 tokens written again × 1.15 cost 57,500: does not pay (-$0.535), it would after 288 turns.',
    ],
    [
      worthOf({ freed: 2_000, suffix: 50_000, turns: 1, cache: { ...warm, type: 'cold' } }),
      '2,000 tokens not written in the next request (× 1.25) save 2,500; the cache is cold, so nothing is lost: pays by 2,500.',
    ],
    [
      worthOf({ freed: 2_000, suffix: 50_000, turns: 11, cache: { ...warm, type: 'cold' } }),
      '2,000 tokens not written in the next request (× 1.25) and not read in the 10 after (× 0.1) save 4,500; the cache is cold, so nothing is lost: pays by 4,500.',
    ],
    [
      { ...worthOf({ freed: 2_000, suffix: 1_000, turns: 10, cache: warm }), deferral: -1_000, net: -150, pays: false },
      '2,000 tokens × 10 turns × 0.1 save 2,000; 1,000 tokens written again × 1.15 cost 1,150; putting off the next compaction costs 1,000: does not pay.',
    ],
    [
      worthOf({ freed: 2_000, suffix: 0, turns: 10, cache: warm }),
      '2,000 tokens × 10 turns × 0.1 save 2,000; the cached prefix stays, so nothing is lost: pays by 2,000.',
    ],
    [worthOf({ freed: 0, suffix: 0, turns: 10, cache: warm }), 'Nothing is freed, so nothing is saved.'],
  ])('%#', (worth, words) => {
    expect(worthInWords(worth)).toBe(words)
  })
})

test('a reduction that the host must ask for is there only if it was', () => {
  expect(reductionsWith()).toEqual(reductions.filter(({ onlyWith }) => onlyWith === undefined))
  expect(reductionsWith().length).toBeLessThan(reductions.length)
  expect(reductionsWith({ native: {} })).toEqual(reductions)
})
