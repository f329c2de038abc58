import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientStyles, generateWithTruth, type JsonObject, keptLayouts } from '../../testing/index.ts'
import { stringAt } from '../message/json.ts'
import type { ReductionChoices } from '../settings/resolve.ts'
import { type Edit, editRecord } from '../transcript/format/edits.ts'
import { createFold, type View } from '../transcript/view/fold.ts'
import { reductions } from './lists.ts'
import { createWeigher } from './measure.ts'
import { type SituationInput, situationOf } from './situation.ts'

const model = 'claude-opus-5-5'

const anySession = fc
  .record({
    seed: fc.nat(100_000),
    style: fc.constantFrom(...clientStyles),
    kept: fc.constantFrom(...keptLayouts),
    turns: fc.integer({ min: 2, max: 5 }),
    boundaries: fc.integer({ min: 0, max: 1 }),
    images: fc.boolean(),
    thinking: fc.constantFrom(0, 0.5),
    parallel: fc.constantFrom(0, 0.5),
    interrupted: fc.constantFrom(0, 0.5),
    model: fc.constantFrom(model, 'claude-haiku-4-5'),
  })
  .map((options) => generateWithTruth(options).records)

/** A change of the view, and where in the session it happens. */
const anyDeed = fc.record({ at: fc.nat(1_000), kind: fc.nat(3), which: fc.nat(1_000) })
type Deed = { readonly at: number; readonly kind: number; readonly which: number }

const choices = (recall: boolean): ReductionChoices => ({
  microCompact: 'always',
  recall,
  reproducible: recall ? ['mcp__files__read'] : [],
  bySize: { keep: 2, target: 500, minFreed: 300 },
  byIdle: { keep: 2 },
  byCacheEdit: { trigger: 3, keep: 2 },
  native: { trigger: 1_000, keepTokens: 500, clearAtLeast: 300 },
})

function inputFor(view: View, step: number): SituationInput {
  const last = view.messages.findLast(({ role }) => role === 'assistant')?.time ?? 0
  return {
    now: last + (step % 2 === 0 ? 1 : 100 * 60_000),
    model,
    client: { contextManagement: step % 3 > 0, cacheEdits: step % 3 > 1 },
    reductions: choices(step % 5 === 0),
  }
}

function deedRecord(view: View, { kind, which }: Deed, place: { readonly uuid: string; readonly tip: string | null }) {
  const ids = view.messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])),
  )
  const uuids = view.sources.flatMap((source) => source.uuids)
  const uuid = uuids[which % Math.max(1, uuids.length)] ?? ''
  const edits: readonly Edit[] = [
    { type: 'clear-results', toolUseIds: ids.filter((_, at) => (at + which) % 3 === 0) },
    { type: 'pin', uuid },
    { type: 'drop-range', from: uuid, to: uuids[(which % Math.max(1, uuids.length)) + 2] ?? uuid, marker: '' },
    { type: 'undo', uuid: view.edits[which % Math.max(1, view.edits.length)]?.uuid ?? '' },
  ]
  const at = { uuid: place.uuid, parentUuid: place.tip, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
  return editRecord(edits[kind] ?? edits[0]!, at)
}

test('a weigher that knows the conversation gives the plans that one gives that has never seen it', () => {
  let planned = 0
  fc.assert(
    fc.property(anySession, fc.array(anyDeed, { maxLength: 6 }), (records, deeds) => {
      const fold = createFold()
      const weigher = createWeigher({ model })
      const add = (record: JsonObject) => fold.add({ record, position: { line: 0, offset: 0, length: 0, nth: 0 } })
      for (const [step, record] of records.entries()) {
        add(record)
        for (const [nth, deed] of deeds.entries()) {
          if (deed.at % records.length !== step) continue
          add(deedRecord(fold.view(), deed, { uuid: `deed-${nth}`, tip: stringAt(record, 'uuid') ?? null }))
        }
        if (step % 7 !== 0 && step !== records.length - 1) continue
        const view = fold.view()
        const input = inputFor(view, step)
        const { weigher: _, ...known } = situationOf(view, { ...input, weigher })
        const { weigher: fresh, ...anew } = situationOf(view, input)
        expect(known).toEqual(anew)
        for (const { plan } of reductions) {
          const found = plan(view, { ...known, weigher })
          expect(found).toEqual(plan(view, { ...anew, weigher: fresh }))
          if (found.type !== 'declined') planned++
        }
      }
    }),
    { numRuns: 40 },
  )
  expect(planned).toBeGreaterThan(100)
})
