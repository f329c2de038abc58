// What it costs to compute everything before a request, in conversations of 1,000, 10,000 and 50,000 messages: one more
// entry is added, and the view extended, sized, planned and made into a request. After an edit the view is folded again.
import type { Entry } from 'everlong'
import { createFold, editRecord, requestMessages } from 'everlong/internal'
import { createWeigher, reductions, situationOf, type Weigher } from 'everlong/internal/compaction'
import type { View } from 'everlong/mechanisms'
import { typical } from '../timing.ts'
import { entriesOf, sampled } from './sessions.ts'

const lengths = [1_000, 10_000, 50_000] as const
const turns = 15
const warmUp = 3
/** More entries than messages need. */
const entriesPerMessage = 3
const model = 'claude-opus-4-8'

/** Milliseconds. */
export type ScratchTimes = {
  readonly messages: number
  readonly entries: number
  /** The first fold, which reads every entry, and the first situation with its plans, which weighs every text. */
  readonly firstFold: number
  readonly firstPlans: number
  /** The same with one more entry, and the request. */
  readonly fold: number
  /** After an edit: the whole transcript. */
  readonly foldAgain: number
  readonly situation: number
  readonly plans: number
  readonly request: number
  /** The request where a result is missing in the middle: everything is looked at several times. */
  readonly repair: number
  readonly turn: number
}

export function measureScratch(): readonly ScratchTimes[] {
  const entries = entriesOf(Math.max(...lengths) * entriesPerMessage)
  return lengths.map((messages) => scratchAt(entries, messages))
}

function scratchAt(all: readonly Entry[], messages: number): ScratchTimes {
  const fold = createFold()
  const weigher = createWeigher({ model })
  const count = entriesFor(all, messages)
  for (const entry of all.slice(0, count)) fold.add(entry)
  const first = sampled(fold.view)
  const firstPlans = sampled(() => planned(fold.view(), weigher))
  const found = all.slice(count, count + warmUp + turns).map((entry, at) => {
    fold.add(entry)
    const folding = sampled(fold.view)
    const view = folding.result
    const situation = sampled(() => situationFor(view, weigher))
    const plans = sampled(() => reductions.map(({ plan }) => plan(view, situation.result)))
    const valid = withoutOpenCalls(view)
    const request = sampled(() => requestMessages(valid, { model }))
    const repair = sampled(() => requestMessages(brokenOf(valid), { model }))
    fold.add(editBeside(entry, at))
    const folds = { fold: folding.sample, foldAgain: sampled(fold.view).sample }
    return {
      ...folds,
      situation: situation.sample,
      plans: plans.sample,
      request: request.sample,
      repair: repair.sample,
    }
  })
  const times = found.slice(warmUp)
  const of = (name: keyof (typeof times)[number]) => typical(times.map((one) => one[name]))
  const parts = { fold: of('fold'), situation: of('situation'), plans: of('plans'), request: of('request') }
  return {
    messages: fold.view().messages.length,
    entries: count,
    firstFold: typical([first.sample]),
    firstPlans: typical([firstPlans.sample]),
    ...parts,
    foldAgain: of('foldAgain'),
    repair: of('repair'),
    turn: parts.fold + parts.situation + parts.plans + parts.request,
  }
}

/** An edit that changes nothing, beside the chain: the next entry was generated without it. */
function editBeside({ position }: Entry, at: number): Entry {
  const edit = { type: 'unpin', uuid: 'nothing' } as const
  const place = { uuid: `edit-${at}`, parentUuid: null, timestamp: '', sessionId: 's' }
  return { record: editRecord(edit, place), position }
}

/** About how many entries make this many messages: they come at a steady rate. */
function entriesFor(all: readonly Entry[], messages: number): number {
  const sample = createFold()
  const tried = all.slice(0, messages * 2)
  for (const entry of tried) sample.add(entry)
  return Math.ceil((tried.length * messages) / sample.view().messages.length)
}

/** The newest entry may be a call whose result is yet to come. */
function withoutOpenCalls(view: View): View {
  const end = view.messages.findLastIndex(({ origin }) => origin === 'tool-result' || origin === 'human') + 1
  return { ...view, messages: view.messages.slice(0, end) }
}

function brokenOf(view: View): View {
  const results = view.messages.findIndex(({ origin }, at) => at > view.messages.length / 2 && origin === 'tool-result')
  return { ...view, messages: view.messages.toSpliced(results, 1) }
}

/** Every mechanism plans, and all results may go. */
function situationFor(view: View, weigher: Weigher) {
  const last = view.messages.findLast(({ role }) => role === 'assistant')?.time ?? 0
  const client = { contextManagement: true, cacheEdits: true }
  return situationOf(view, { model, weigher, now: last + 1, reductions: { microCompact: 'always' }, client })
}

function planned(view: View, weigher: Weigher): void {
  const situation = situationFor(view, weigher)
  for (const { plan } of reductions) plan(view, situation)
}
