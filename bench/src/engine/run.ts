// `npm run bench -- engine`: the speeds of the engine, next to what they should be. Recall has a
// benchmark of its own, which takes minutes; its checked-in results are shown here.
import { defineBenchmark, type Page, type Target as Reached, readFigures, table } from '../benchmark.ts'
import type { Figures } from '../recall/run.ts'
import { type Folding, measureFolding } from './folding.ts'
import { type LedgerTimes, measureLedger } from './ledger.ts'
import { measureScratch, type ScratchTimes } from './scratch.ts'
import { measureTurns, type TurnTimes } from './turns.ts'

type EngineReport = {
  readonly node: string
  readonly targets: readonly Target[]
  readonly scratch: readonly ScratchTimes[]
  readonly folding: Folding
  readonly ledger: LedgerTimes
  readonly turns: readonly TurnTimes[]
}

type Target = { readonly what: string; readonly wanted: number; readonly milliseconds: number }

export const benchmark = defineBenchmark({ name: 'engine', run, page, targets: engineTargets })

async function run(): Promise<EngineReport> {
  const turns = await measureTurns()
  const ledger = measureLedger()
  const scratch = measureScratch()
  const folding = measureFolding()
  const targets = targetsOf({ scratch, folding, ledger, turns })
  return { node: process.versions.node, targets, scratch, folding, ledger, turns }
}

export function engineTargets({ targets }: Pick<EngineReport, 'targets'>): readonly Reached[] {
  return targets.map(({ what, wanted, milliseconds }) => ({
    what,
    wanted: `below ${wanted} ms`,
    measured: `${milliseconds.toFixed(2)} ms`,
    met: milliseconds < wanted,
  }))
}

function targetsOf({ scratch, folding, ledger, turns }: Omit<EngineReport, 'node' | 'targets'>): readonly Target[] {
  const long = scratch.find(({ messages }) => messages >= 9_000)
  const longest = Math.max(...folding.folded.map(({ milliseconds }) => milliseconds))
  return [
    { what: 'the view with one more entry at 10,000 messages', wanted: 5, milliseconds: long?.fold ?? 0 },
    { what: 'folding again after an edit at 10,000 messages', wanted: 25, milliseconds: long?.foldAgain ?? 0 },
    { what: 'the size and the situation at 10,000 messages', wanted: 25, milliseconds: long?.situation ?? 0 },
    { what: 'the request at 10,000 messages', wanted: 25, milliseconds: long?.request ?? 0 },
    { what: 'four plans at 10,000 messages, all results clearable', wanted: 75, milliseconds: long?.plans ?? 0 },
    {
      what: 'a whole turn of a session at 10,000 messages, the slower case',
      wanted: 50,
      milliseconds: Math.max(...turns.map(({ turn }) => turn)),
    },
    { what: 'folding 100,000 entries for the first time, the slower case', wanted: 400, milliseconds: longest },
    {
      what: 'recall among 100,000 messages, p95 of the slowest kind (`npm run bench -- recall`)',
      wanted: 20,
      milliseconds: slowestRecall(),
    },
    { what: 'the ledger of 200,000 tokens', wanted: 200, milliseconds: ledger.read.later },
  ]
}

function slowestRecall(): number {
  return Math.max(...readFigures<Figures>('recall').queries.map(({ p95 }) => p95))
}

function page({ node, targets, scratch, folding, ledger, turns }: EngineReport): Page {
  return {
    title: 'The speed of the engine',
    parts: [
      `Written by \`npm run bench -- engine\` with Node ${node}. Medians, in one process, over generated sessions. Milliseconds are of
this machine, and of whatever else it was doing; the ratios say more.`,
      table(
        ['what', 'wanted below, ms', 'measured, ms'],
        targets.map(({ what, wanted, milliseconds }) => [what, wanted, milliseconds]),
      ),
      '## A turn of a session',
      `A result is added and an answer recorded (*add*); the next request is sized, reduced if necessary, repaired and marked
(*prepare*). This is all that the engine does between two requests while nothing has to be compacted. Short work is the median
by the clock, work of more than 5 ms the mean of its processor time.`,
      table(
        ['case', 'messages', 'repairs', 'add, ms', 'prepare, ms', 'both, ms'],
        turns.map((it) => [it.name, it.messages, it.repairs, it.add, it.prepare, it.turn]),
      ),
      '## Before each request',
      `One more entry extends the view, which is sized, planned (by size, by idle time, by cache edit and native, with all results
clearable) and made into a request. *Fold again* is after an edit: the whole transcript, from the remembered message of each
entry. *First* is without anything remembered: every entry is read and every text is counted. *Request to repair* lacks a result
in the middle. Milliseconds.`,
      table(
        [
          'messages',
          'entries',
          'first fold',
          'first plans',
          'fold',
          'fold again',
          'situation',
          'plans',
          'request',
          'all four',
          'request to repair',
        ],
        scratch.map((it) => {
          const now = [it.fold, it.foldAgain, it.situation, it.plans, it.request, it.turn, it.repair]
          return [it.messages, it.entries, it.firstFold, it.firstPlans, ...now]
        }),
      ),
      '## Folding',
      `${folding.entries} entries from nothing, and the view with its lists.`,
      table(
        ['transcript', 'messages in view', 'fold, ms', 'compared with reading every head', 'repair of the view, ms'],
        folding.folded.map((it) => [
          it.name,
          it.messages,
          it.milliseconds,
          `${(it.milliseconds / it.headsMilliseconds).toFixed(1)} ×`,
          it.repairMilliseconds,
        ]),
      ),
      '## The ledger',
      `A conversation of ${ledger.tokens} tokens in ${ledger.messages} messages.`,
      table(
        ['', 'first time in the process, ms', 'later, ms'],
        [['read from the messages', ledger.read.first, ledger.read.later]],
      ),
    ],
  }
}
