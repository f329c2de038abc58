import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClientStyle, generateWithTruth, type KeptLayout } from '../../testing/index.ts'
import { foldEntries, type View } from '../transcript/fold.ts'
import { runContract } from './contract.ts'
import type { Declined, Mechanism, Plan } from './mechanism.ts'
import { microByIdle } from './micro/by-idle.ts'
import { microBySize } from './micro/by-size.ts'
import type { ReductionChoices } from './settings.ts'
import { type SituationInput, situationOf } from './situation.ts'

const styles: readonly ClientStyle[] = ['1.0', '2.0', '2.1-early', '2.1-late']
const layouts: readonly KeptLayout[] = ['none', 'before', 'before-parent-is-tail', 'after']

const anySession = fc
  .record({
    seed: fc.nat(100_000),
    style: fc.constantFrom(...styles),
    kept: fc.constantFrom(...layouts),
    turns: fc.integer({ min: 1, max: 5 }),
    boundaries: fc.integer({ min: 0, max: 2 }),
    subagents: fc.constantFrom('none' as const, 'inline' as const),
    images: fc.boolean(),
    thinking: fc.constantFrom(0, 0.5, 1),
    parallel: fc.constantFrom(0, 0.5, 1),
    interrupted: fc.constantFrom(0, 0.5),
    microcompact: fc.boolean(),
    model: fc.constantFrom('claude-opus-4-8', 'claude-opus-5-5', 'claude-haiku-4-5'),
  })
  .map((options) => generateWithTruth(options).records)

const anySituation = fc.record({
  boundThinking: fc.constantFrom('delegate' as const, 'remove' as const, 'decline' as const),
  contextManagement: fc.boolean(),
  cacheEdits: fc.boolean(),
  recall: fc.boolean(),
  estimator: fc.constantFrom('fitted' as const, 'chars/4' as const),
  keep: fc.nat(5),
})

/** Small numbers, so that small conversations have something to clear. */
const reductionsOf = (recall: boolean, keep: number): ReductionChoices => ({
  microCompact: 'always',
  recall,
  bySize: { keep, target: 500, least: 300 },
  byIdle: { keep },
  byCacheEdit: { trigger: 3, keep },
  native: { trigger: 1_000, keepTokens: 500, clearAtLeast: 300 },
})

const lastDay = Date.parse('2027-01-01T00:00:00.000Z')

const mechanisms: readonly (readonly [string, Mechanism])[] = [
  [microBySize.name, microBySize],
  [microByIdle.name, microByIdle],
]

describe.each(mechanisms)('the contract, kept by %s', (_, mechanism) => {
  test('over generated conversations', async () => {
    let performed = 0
    await fc.assert(
      fc.asyncProperty(anySession, anySituation, async (records, choice) => {
        const { boundThinking, contextManagement, cacheEdits, estimator } = choice
        const input: SituationInput = {
          now: lastDay,
          estimator,
          client: { contextManagement, cacheEdits },
          reductions: { ...reductionsOf(choice.recall, choice.keep), boundThinking },
        }
        const report = await runContract({ mechanism, records, situationOf: (view) => situationOf(view, input) })
        expect(report.broken).toEqual([])
        if (report.performed) performed++
      }),
      { numRuns: 60 },
    )
    expect(performed).toBeGreaterThan(10)
  })

  test('has nothing to do in an empty conversation', () => {
    const view: View = foldEntries([])
    expect(mechanism.plan(view, situationOf(view, { now: lastDay })).type).toBe('declined')
  })

  test('does nothing when micro-compaction is turned off', async () => {
    const { records } = generateWithTruth({ seed: 1, turns: 4 })
    const input: SituationInput = { now: lastDay, reductions: { microCompact: false } }
    const report = await runContract({ mechanism, records, situationOf: (view) => situationOf(view, input) })
    expect(report).toMatchObject({ plan: { type: 'declined', why: 'turned-off' }, broken: [] })
  })

  test('will not perform another one’s plan', async () => {
    const { records } = generateWithTruth({ seed: 3, turns: 5 })
    const situation = (view: View) => situationOf(view, { now: lastDay, reductions: reductionsOf(false, 1) })
    const { plan } = await runContract({ mechanism, records, situationOf: situation })
    if (plan.type !== 'planned') return
    const perform = mechanism.perform({ ...plan, mechanism: 'another' }, { now: () => 0, newId: () => '' })
    await expect(perform).rejects.toThrow(`A plan of another was given to ${mechanism.name}.`)
  })
})

describe('the contract itself', () => {
  const { records } = generateWithTruth({ seed: 3, turns: 5 })
  const run = (mechanism: Mechanism) => {
    const input = { now: lastDay, reductions: reductionsOf(false, 1) }
    return runContract({ mechanism, records, situationOf: (view) => situationOf(view, input) })
  }

  test('notices a mechanism that promises too much', async () => {
    const liar: Mechanism = {
      ...microByIdle,
      perform: async (plan, ports, signal) => {
        const performed = await microByIdle.perform(plan, ports, signal)
        return performed.type === 'reduced' ? { ...performed, freed: performed.freed * 2 } : performed
      },
    }
    expect((await run(liar)).broken).toEqual([expect.stringContaining('freed as promised')])
  })

  test('notices a mechanism that does the same again', async () => {
    const restless: Mechanism = { ...microByIdle, plan: (view, situation) => again(microByIdle.plan(view, situation)) }
    const again = (plan: Plan | Declined): Plan | Declined => {
      if (plan.type === 'planned') planned = plan
      return planned ?? plan
    }
    let planned: Plan | undefined
    expect((await run(restless)).broken).toEqual(['the second time nothing more is done'])
  })
})
