// The contract of every planning mechanism, as a test helper: it plans over generated conversations, applies the plan, and checks
// each promise. It is the same for all mechanisms.

import { deepFrozen, type JsonObject, stringAt } from '../../message/json.ts'
import { checkRequest, type Problem } from '../../request/check-request.ts'
import { type RepairOptions, repairRequest } from '../../request/repair.ts'
import { type Edit, editRecord } from '../../transcript/format/edits.ts'
import type { Entry } from '../../transcript/format/entry.ts'
import { createFold, type Fold, type View } from '../../transcript/view/fold.ts'
import type { Plan, PlanDeclined, PlanningMechanism, Situation } from '../mechanism.ts'

export type ContractInput = {
  readonly mechanism: PlanningMechanism
  readonly records: readonly JsonObject[]
  /** Called again after a plan was applied, for callers that keep state between the two calls. */
  readonly situationOf: (view: View, applied?: Plan) => Situation
}

export type ContractReport = {
  readonly plan: Plan | PlanDeclined
  /** Broken promises. Empty if the mechanism keeps its contract. */
  readonly broken: readonly string[]
  readonly freed: number
}

export function runContract({ mechanism, records, situationOf }: ContractInput): ContractReport {
  const bench = createBench(records)
  const view = deepFrozen(bench.fold.view())
  const situation = situationOf(view)
  const before = bytesOf(view)
  const plan = mechanism.plan(view, situation)
  const broken: string[] = []
  const must = (isKept: boolean, promise: string) => isKept || broken.push(promise)
  must(bytesOf(view) === before, 'plan leaves the view as it is')
  must(same(plan, mechanism.plan(view, situation)), 'the same view and situation give the same plan')
  must(same(plan, JSON.parse(JSON.stringify(plan))), 'a plan is plain data')
  if (plan.type === 'declined') return { plan, broken, freed: 0 }
  must(plan.freed > 0 || plan.type === 'delegated', 'a plan frees something')
  must(bytesOf(bench.fold.view()) === before, 'plan leaves the transcript to others')
  if (plan.type === 'delegated') {
    const second = mechanism.plan(view, situationOf(view, plan))
    const isNew = second.type !== 'declined' && !(second.type === 'delegated' && same(second.request, plan.request))
    must(!isNew, 'the second time nothing else is asked of the server')
    return { plan, broken, freed: plan.freed }
  }
  const undo = bench.append(plan.edits)
  const after = bench.fold.view()
  const freed = weightOf(view, situation) - weightOf(after, situation)
  must(isNear(freed, plan.freed), `freed as promised: ${plan.freed} promised, ${Math.round(freed)} freed`)
  must(mechanism.plan(after, situationOf(after, plan)).type === 'declined', 'the second time nothing more is done')
  for (const problem of problemsOf(after)) must(false, `a valid request: ${JSON.stringify(problem)}`)
  for (const uuid of plan.items.flatMap(({ uuids }) => uuids)) {
    must(bench.fold.entry(uuid)?.record === bench.original(uuid), `the original of ${uuid} is within reach`)
  }
  undo()
  must(bytesOf(bench.fold.view()) === before, 'undone, the view is the very same bytes')
  return { plan, broken, freed }
}

type Bench = {
  readonly fold: Fold
  readonly original: (uuid: string) => JsonObject | undefined
  /** Returns a function that undoes the edits. */
  readonly append: (edits: readonly Edit[]) => () => void
}

function createBench(records: readonly JsonObject[]): Bench {
  const fold = createFold()
  const originals = new Map<string, JsonObject>()
  let lines = 0
  let tip: string | null = null
  const add = (record: JsonObject): void => {
    const uuid = stringAt(record, 'uuid')
    if (uuid !== undefined && !originals.has(uuid)) originals.set(uuid, record)
    if (uuid !== undefined && record.isSidechain !== true) tip = uuid
    const entry: Entry = { record, position: { line: ++lines, offset: lines, length: 1, nth: 0 } }
    fold.add(entry)
  }
  const addEdit = (edit: Edit, uuid: string): void =>
    add(editRecord(edit, { uuid, parentUuid: tip, timestamp: '2026-03-03T00:00:00.000Z', sessionId: 'contract' }))
  for (const record of records) add(record)
  return {
    fold,
    original: (uuid) => originals.get(uuid),
    append: (edits) => {
      for (const [at, edit] of edits.entries()) addEdit(edit, `edit-${at}`)
      return () => {
        for (const at of [...edits.keys()].reverse()) addEdit({ type: 'undo', uuid: `edit-${at}` }, `undo-${at}`)
      }
    },
  }
}

/** The view as bytes, to compare it before and after the edits. */
export function bytesOf({ messages, sources }: View): string {
  return JSON.stringify({ messages, sources })
}

function weightOf({ messages }: View, { weigher }: Situation): number {
  return messages.reduce((sum, { content }) => sum + weigher.content(content), 0)
}

/** Within 5 % or two tokens, because of rounding. */
function isNear(actual: number, promised: number): boolean {
  return Math.abs(actual - promised) <= Math.max(2, promised * 0.05)
}

function problemsOf(view: View): readonly Problem[] {
  if (view.messages.length === 0) return []
  const ways: readonly RepairOptions[] = [{}, { thinking: 'strip-changed', changed: view.changed }]
  return ways.flatMap((options) => checkRequest(repairRequest(view.messages, options).messages))
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
