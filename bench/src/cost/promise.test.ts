// The promise of the economics: whatever an agent does all day, clearing where it pays costs no more than any one fixed
// rule, and nothing is refused. Sessions of 9 tasks, about 80 answers, in a window so small
// that the fixed rules must act too; longer sessions, more seeds and kinds in `npm run bench -- cost`.
import { describe, expect, test } from 'vitest'
import { fixedRules, weighed } from './rules.ts'
import { runSession } from './session.ts'
import type { Setup } from './setup.ts'

const base = { model: 'claude-opus-5', window: 100_000, lifetime: '5m', pauses: 'real', tasks: 9 } as const
const binding = { ...base, model: 'claude-opus-5-5' } as const

const sessions: readonly (readonly [string, Setup])[] = [
  ['reading much', { ...base, kind: 'reading', seed: 1 }],
  ['editing much, thinking bound to the prefix', { ...binding, kind: 'editing', seed: 2 }],
]

describe('a session of 9 tasks', () => {
  test.each(sessions)('%s: weighing is never dearer than a fixed rule', { timeout: 300_000 }, async (_, setup) => {
    const ours = await runSession(setup, weighed)
    const prices: number[] = []
    for (const rule of fixedRules) prices.push((await runSession(setup, rule)).price)
    expect(ours).toMatchObject({ done: 9, failed: { overflow: 0, signature: 0, invalid: 0 } })
    expect(ours.clearings).toBeGreaterThan(0)
    expect(ours.price).toBeLessThanOrEqual(Math.min(...prices))
  })
})
