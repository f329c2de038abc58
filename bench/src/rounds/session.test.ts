import { describe, expect, test } from 'vitest'
import { contextWindow, threshold } from './contender.ts'
import { kinds, plantedFacts } from './facts.ts'
import { play } from './measure.ts'
import { oursOffline } from './ours.ts'
import { madeUpTurns } from './session.ts'

describe('the session of the rounds', () => {
  test('holds every fact once, in its own words, and no question holds its answer', () => {
    const turns = madeUpTurns(400, 40)
    const texts = turns.map(({ messages }) => JSON.stringify(messages).replaceAll('\\"', '"'))
    const facts = turns.flatMap(({ fact }) => fact ?? [])
    expect(facts).toEqual(plantedFacts(40))
    for (const { needles, question } of facts) {
      expect(texts.filter((text) => needles.every((needle) => text.includes(needle)))).toHaveLength(1)
      expect(needles.every((needle) => question.includes(needle))).toBe(false)
    }
    expect(new Set(facts.map(({ kind }) => kind))).toEqual(new Set(kinds))
    expect(threshold).toBeLessThan(contextWindow)
  })

  test('every constraint is in our context after a compaction, and every fact is found by recall', async () => {
    const { rounds } = await play(oursOffline, madeUpTurns(300, 30), [1, 2])
    expect(rounds.map(({ compactions }) => compactions)).toEqual([1, 2, 2])
    for (const { byKind, recalled, planted } of rounds) {
      const [kept, told] = byKind.constraint
      expect(kept).toBe(told)
      expect(recalled).toBe(planted)
    }
  })
})
