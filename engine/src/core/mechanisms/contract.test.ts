import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clientStyles, generateWithTruth, keptLayouts } from '../../testing/index.ts'
import { type CacheEditState, noCacheEdits, withDeleted } from '../cache/cache-watch.ts'
import { collapse, finishedSpans } from '../collapse/collapse.ts'
import { type JsonObject, stringAt } from '../message/json.ts'
import { checkRequest } from '../request/check-request.ts'
import { repairRequest } from '../request/repair.ts'
import type { ReductionChoices } from '../settings/resolve.ts'
import { type Edit, editRecord } from '../transcript/format/edits.ts'
import { foldEntries, type View } from '../transcript/view/fold.ts'
import { reductions } from './lists.ts'
import { createWeigher } from './measure.ts'
import type { Plan, PlanDeclined, PlanningMechanism } from './mechanism.ts'
import { microByCacheEdit, microByIdle, microBySize } from './micro.ts'
import { snip } from './ranges.ts'
import { type SituationInput, situationOf } from './situation.ts'
import { bytesOf, runContract } from './testing/contract.ts'
import { viewOf } from './testing/examples.ts'

const anySession = fc
  .record({
    seed: fc.nat(100_000),
    style: fc.constantFrom(...clientStyles),
    kept: fc.constantFrom(...keptLayouts),
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
  pins: fc.array(fc.nat(1_000), { maxLength: 2 }),
  first: fc.nat(1_000),
  second: fc.nat(1_000),
})

/** Small numbers, so that small conversations have something to clear. */
const reductionsOf = (recall: boolean, keep: number): ReductionChoices => ({
  microCompact: 'always',
  // Cost is tested elsewhere.
  weigh: false,
  recall,
  bySize: { keep, target: 500, minFreed: 300 },
  byIdle: { keep },
  byCacheEdit: { trigger: 3, keep },
  native: { trigger: 1_000, keepTokens: 500, clearAtLeast: 300 },
})

const fullWindow = { tokens: 10_000_000, reported: 0, estimated: 10_000_000, source: 'estimate' } as const

const lastDay = Date.parse('2027-01-01T00:00:00.000Z')

/** Some are made for a conversation, because a snip names its entries. */
type Maker = (view: View, choice: { readonly first: number; readonly second: number }) => PlanningMechanism

const mechanisms: readonly (readonly [string, Maker])[] = [
  ...reductions.map((mechanism) => [mechanism.name, () => mechanism] as const),
  ['snip', snipSomewhere],
  ['collapse', collapseAll],
]

/** Every finished span, with a summary that says where it came from. */
function collapseAll(view: View): PlanningMechanism {
  const spans = finishedSpans(view, createWeigher(), 50)
  return collapse(spans.map(({ from, to }) => ({ from, to, text: `What happened from ${from} on, in short.` })))
}

function snipSomewhere(
  view: View,
  { first, second }: { readonly first: number; readonly second: number },
): PlanningMechanism {
  const uuids = view.sources.flatMap(({ pieces }) => pieces.map(({ uuid }) => uuid ?? ''))
  const at = first % Math.max(1, uuids.length)
  return snip({ from: uuids[at] ?? '', to: uuids[Math.min(at + (second % 9), uuids.length - 1)] ?? '' })
}

describe.each(mechanisms)('the contract, kept by %s', (name, make) => {
  test('over generated conversations', () => {
    let performed = 0
    fc.assert(
      fc.property(anySession, anySituation, (records, choice) => {
        const { boundThinking, contextManagement, cacheEdits, estimator } = choice
        const input: SituationInput = {
          now: lastDay,
          // Cache edits need a warm cache.
          ...(name === microByCacheEdit.name ? { cacheLifetime: Number.POSITIVE_INFINITY } : {}),
          // Staged summaries wait for a full window.
          ...(name === 'collapse' ? { size: fullWindow } : {}),
          estimator,
          client: { contextManagement, cacheEdits },
          reductions: { ...reductionsOf(choice.recall, choice.keep), boundThinking },
        }
        const withPins = pinned(records, choice.pins)
        const mechanism = make(viewOf(withPins), choice)
        const report = runContract({
          mechanism,
          records: withPins,
          situationOf: (view, done) => situationOf(view, { ...input, cacheEdits: stateAfter(done) }),
        })
        expect(report.broken).toEqual([])
        if (report.plan.type !== 'declined') performed++
      }),
      { numRuns: 60 },
    )
    expect(performed).toBeGreaterThan(10)
  })

  test('has nothing to do in an empty conversation', () => {
    const view: View = foldEntries([])
    const mechanism = make(view, { first: 0, second: 0 })
    expect(mechanism.plan(view, situationOf(view, { now: lastDay })).type).toBe('declined')
  })
})

test.each([microBySize, microByIdle, microByCacheEdit])('$name does nothing when it is turned off', (mechanism) => {
  const view = viewOf(generateWithTruth({ seed: 1, turns: 4 }).records)
  const client = { cacheEdits: true, contextManagement: true }
  const situation = situationOf(view, { now: lastDay, client, reductions: { microCompact: false } })
  expect(mechanism.plan(view, situation)).toMatchObject({ type: 'declined', reason: 'turned-off' })
})

function stateAfter(plan: Plan | undefined): CacheEditState {
  const edits = plan?.type === 'delegated' ? plan.request.cacheEdits : undefined
  return withDeleted(noCacheEdits, edits?.map((edit) => edit.cache_reference) ?? [])
}

/** The session with some of its lines pinned. */
function pinned(records: readonly JsonObject[], pins: readonly number[]): readonly JsonObject[] {
  const lines = records.filter(({ type, isSidechain }) => (type === 'user' || type === 'assistant') && !isSidechain)
  let parentUuid = stringAt(records.filter(({ uuid, isSidechain }) => uuid && !isSidechain).at(-1), 'uuid') ?? null
  const edits = pins.map((pin, at) => {
    const edit: Edit = { type: 'pin', uuid: stringAt(lines[pin % lines.length], 'uuid') ?? '' }
    const place = { uuid: `pin-${at}`, parentUuid, timestamp: '2026-03-02T23:00:00.000Z', sessionId: 's' }
    parentUuid = place.uuid
    return editRecord(edit, place)
  })
  return [...records, ...edits]
}

describe('all mechanisms together', () => {
  const names = mechanisms.map(([name]) => name)
  const anySequence = fc.array(fc.record({ at: fc.nat(names.length - 1), choice: anySituation }), {
    minLength: 1,
    maxLength: 6,
  })

  test('in any order, repeated: a valid request each time, and undone the very same bytes', () => {
    fc.assert(
      fc.property(anySession, anySequence, (records, sequence) => {
        const written = [...records]
        const done: string[] = []
        const before = bytesOf(viewOf(written))
        const append = (edit: Edit, uuid: string) => {
          const parentUuid = stringAt(written.filter((line) => line.uuid && !line.isSidechain).at(-1), 'uuid') ?? null
          written.push(editRecord(edit, { uuid, parentUuid, timestamp: '2026-03-03T00:00:00.000Z', sessionId: 's' }))
        }
        for (const { at, choice } of sequence) {
          const view = viewOf(written)
          const mechanism = mechanisms[at]?.[1](view, choice) ?? microBySize
          const choices = { ...reductionsOf(choice.recall, choice.keep), boundThinking: choice.boundThinking }
          const plan = mechanism.plan(view, situationOf(view, { now: lastDay, reductions: choices }))
          if (plan.type === 'declined') continue
          for (const edit of plan.type === 'reduced' ? plan.edits : []) {
            done.push(`edit-${done.length}`)
            append(edit, done.at(-1) ?? '')
          }
          const after = viewOf(written)
          const { messages } = repairRequest(after.messages, { thinking: 'strip-changed', changed: after.changed })
          expect(checkRequest(messages)).toEqual([])
        }
        for (const uuid of done.toReversed()) append({ type: 'undo', uuid }, `undo-${uuid}`)
        expect(bytesOf(viewOf(written)) === before).toBe(true)
      }),
      { numRuns: 40 },
    )
  })
})

describe('the contract itself', () => {
  const { records } = generateWithTruth({ seed: 3, turns: 5 })
  const run = (mechanism: PlanningMechanism) => {
    const input = { now: lastDay, reductions: reductionsOf(false, 1) }
    return runContract({ mechanism, records, situationOf: (view) => situationOf(view, input) })
  }

  test('notices a mechanism that promises too much', () => {
    const liar: PlanningMechanism = {
      ...microByIdle,
      plan: (view, situation) => {
        const plan = microByIdle.plan(view, situation)
        return plan.type !== 'declined' ? { ...plan, freed: plan.freed * 2 } : plan
      },
    }
    expect(run(liar).broken).toEqual([expect.stringContaining('freed as promised')])
  })

  test('notices a mechanism that does the same again', () => {
    const restless: PlanningMechanism = {
      ...microByIdle,
      plan: (view, situation) => again(microByIdle.plan(view, situation)),
    }
    const again = (plan: Plan | PlanDeclined): Plan | PlanDeclined => {
      if (plan.type !== 'declined') planned = plan
      return planned ?? plan
    }
    let planned: Plan | undefined
    expect(run(restless).broken).toEqual(['the second time nothing more is done'])
  })
})
