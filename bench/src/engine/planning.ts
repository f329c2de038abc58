// What it costs to plan before a request in a conversation of 10,000 messages: with everything known from the requests
// before it, as in a live session, and for somebody who sees the conversation for the first time.
import {
  createWeigher,
  microByCacheEdit,
  microByIdle,
  microBySize,
  native,
  type PlanningMechanism,
  type SituationInput,
  situationOf,
  type Weigher,
} from 'everlong/mechanisms'
import { createFold, type Entry, type Fold, type View } from 'everlong/transcript'
import { median } from '../results.ts'
import { entriesOf, timed, timedResult } from './sessions.ts'

const messages = 10_000
const turns = 200
const colds = 7
const model = 'claude-opus-4-8'
const mechanisms: readonly PlanningMechanism[] = [microBySize, microByIdle, microByCacheEdit, native]

/** Medians, in milliseconds. */
export type Planned = {
  readonly name: string
  readonly messages: number
  /** What each mechanism said. */
  readonly outcome: readonly string[]
  /** Two entries more and the view; the situation; the plans; all of it together. */
  readonly fold: number
  readonly situation: number
  readonly plans: number
  readonly turn: number
  /** Situation and plans of a view that nobody has weighed before. */
  readonly cold: number
}

type Case = { readonly name: string; readonly input: Omit<SituationInput, 'now'> }

const cases: readonly Case[] = [
  { name: 'nothing is to be done: below the warning', input: { settings: { contextWindow: 1_000_000_000 } } },
  {
    name: 'above the warning: old results are looked for, and too little is found',
    input: { reductions: { microCompact: 'always', bySize: { least: 1_000_000_000 } } },
  },
  {
    name: 'every mechanism plans, and all results may go',
    input: { reductions: { microCompact: 'always' }, client: { contextManagement: true, cacheEdits: true } },
  },
]

export function measurePlanning(): readonly Planned[] {
  const entries = entriesOf(messages * 4)
  return cases.map((found) => planCost(found, entries))
}

function planCost({ name, input }: Case, entries: readonly Entry[]): Planned {
  const session = sessionWith(entries)
  const cold = Array.from({ length: colds }, () => {
    const view = session.turn()
    return timed(() => planOf(view, input, createWeigher({ model })))
  })
  const weigher = createWeigher({ model })
  const parts = { fold: [] as number[], situation: [] as number[], plans: [] as number[], turn: [] as number[] }
  let outcome: readonly string[] = []
  for (let turn = -turns / 4; turn < turns; turn++) {
    const fold = timedResult(session.turn)
    const view = fold.result
    const situation = timedResult(() => situationOf(view, inputFor(view, input, weigher)))
    const plans = timedResult(() => mechanisms.map(({ plan }) => plan(view, situation.result)))
    outcome = plans.result.map(said)
    if (turn < 0) continue
    parts.fold.push(fold.milliseconds)
    parts.situation.push(situation.milliseconds)
    parts.plans.push(plans.milliseconds)
    parts.turn.push(fold.milliseconds + situation.milliseconds + plans.milliseconds)
  }
  return {
    name,
    messages: session.view().messages.length,
    outcome,
    fold: median(parts.fold),
    situation: median(parts.situation),
    plans: median(parts.plans),
    turn: median(parts.turn),
    cold: median(cold),
  }
}

type Session = { readonly view: () => View; readonly turn: () => View }

/** Grown to its length, and two entries longer each turn: a call and its result. */
function sessionWith(entries: readonly Entry[]): Session {
  const fold: Fold = createFold()
  let at = 0
  while (fold.view().messages.length < messages) {
    for (const entry of entries.slice(at, at + 500)) fold.add(entry)
    at += 500
  }
  return {
    view: () => fold.view(),
    turn: () => {
      for (const entry of entries.slice(at, at + 2)) fold.add(entry)
      at += 2
      const view = fold.view()
      // Looked at, since the plans and the request will.
      return view.messages.length === view.sources.length ? view : fold.view()
    },
  }
}

function inputFor(view: View, input: Case['input'], weigher: Weigher): SituationInput {
  const last = view.messages.findLast(({ role }) => role === 'assistant')?.time ?? 0
  return { model, weigher, now: last + 1, ...input }
}

function planOf(view: View, input: Case['input'], weigher: Weigher): void {
  const situation = situationOf(view, inputFor(view, input, weigher))
  for (const { plan } of mechanisms) plan(view, situation)
}

function said(plan: ReturnType<PlanningMechanism['plan']>): string {
  return plan.type === 'planned' ? `${plan.mechanism}: ${plan.items.length} items` : `${plan.mechanism}: ${plan.why}`
}
