// `npm run bench -- engine`: the speeds that the engine promises, beside what they are promised to be. Recall has a
// benchmark of its own, which takes minutes: its checked-in results are told here.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figures } from '../recall/report.ts'
import { writeResults } from '../results.ts'
import { root } from '../root.ts'
import { type Folding, measureFolding } from './folding.ts'
import { type LedgerTimes, measureLedger } from './ledger.ts'
import { measureScratch, type ScratchTimes } from './scratch.ts'
import { measureTurns, type TurnTimes } from './turns.ts'

export type EngineReport = {
  readonly node: string
  readonly targets: readonly Target[]
  readonly scratch: readonly ScratchTimes[]
  readonly folding: Folding
  readonly ledger: LedgerTimes
  readonly turns: readonly TurnTimes[]
}

type Target = { readonly what: string; readonly wanted: number; readonly milliseconds: number }

export async function run(): Promise<void> {
  const turns = await measureTurns()
  const ledger = measureLedger()
  const scratch = measureScratch()
  const folding = measureFolding()
  const report = {
    node: process.versions.node,
    targets: targetsOf({ scratch, folding, ledger, turns }),
    scratch,
    folding,
    ledger,
    turns,
  }
  writeResults('engine', { markdown: asMarkdown(report), json: report })
}

function targetsOf({ scratch, folding, ledger, turns }: Omit<EngineReport, 'node' | 'targets'>): readonly Target[] {
  const long = scratch.find(({ messages }) => messages >= 9_000)
  const longest = Math.max(...folding.folded.map(({ milliseconds }) => milliseconds))
  const recall = slowestRecall()
  return [
    { what: 'folding again at 10,000 messages', wanted: 25, milliseconds: long?.fold ?? 0 },
    { what: 'the size and the situation at 10,000 messages', wanted: 25, milliseconds: long?.situation ?? 0 },
    { what: 'the request at 10,000 messages', wanted: 25, milliseconds: long?.request ?? 0 },
    { what: 'four plans at 10,000 messages, all results clearable', wanted: 75, milliseconds: long?.plans ?? 0 },
    {
      what: 'a whole turn of a session at 10,000 messages, the slower case',
      wanted: 50,
      milliseconds: Math.max(...turns.map(({ turn }) => turn)),
    },
    { what: 'folding 100,000 entries for the first time, the slower case', wanted: 400, milliseconds: longest },
    ...(recall === undefined
      ? []
      : [
          {
            what: 'recall among 100,000 messages, p95 of the slowest kind (`npm run bench -- recall`)',
            wanted: 20,
            milliseconds: recall,
          },
        ]),
    {
      what: 'the ledger of 200,000 tokens',
      wanted: 200,
      milliseconds: ledger.read.later,
    },
  ]
}

function slowestRecall(): number | undefined {
  const path = join(root, 'bench/results/recall.json')
  if (!existsSync(path)) return undefined
  const { queries } = JSON.parse(readFileSync(path, 'utf8')) as Figures
  return Math.max(...queries.map(({ p95 }) => p95))
}

const exact = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
const row = (...cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`

function asMarkdown({ node, targets, scratch, folding, ledger, turns }: EngineReport): string {
  return `# The speed of the engine

Written by \`npm run bench -- engine\` with Node ${node}. Medians, in one process, over made-up sessions. Milliseconds are this
machine's, and whatever else it was doing; the ratios say more.

| what | wanted below, ms | measured, ms |
| --- | --- | --- |
${targets.map(({ what, wanted, milliseconds }) => row(what, wanted, exact(milliseconds))).join('\n')}

## A turn of a session

A result added and an answer recorded (*add*), the next request looked at, reduced if need be, mended and marked (*prepare*):
all that the engine does between two requests while nothing has to be compacted.

| case | messages | repairs | add, ms | prepare, ms | both, ms |
| --- | --- | --- | --- | --- | --- |
${turns.map((it) => row(it.name, it.messages, it.repairs, exact(it.add), exact(it.prepare), exact(it.turn))).join('\n')}

## From scratch before each request

Nothing is followed from one request to the next: the whole transcript is folded again, sized, planned (by size, by idle
time, by cache edit and native, with all results clearable) and made into a request. What is remembered is what one
entry or one text gives: its message, its tokens. *First* is without that: every entry is read and every text weighed.
*Request to repair* lacks a result in the middle. Milliseconds of processor time.

| messages | entries | first fold | first plans | fold | situation | plans | request | all four | request to repair |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${scratch.map(scratchRow).join('\n')}

## Folding

${folding.entries} entries from nothing, and the view with its lists.

| transcript | messages in view | fold, ms | beside reading every head | repair of the view, ms |
| --- | --- | --- | --- | --- |
${folding.folded.map((it) => row(it.name, it.messages, exact(it.milliseconds), `${(it.milliseconds / it.headsMilliseconds).toFixed(1)} ×`, exact(it.repairMilliseconds))).join('\n')}

## The ledger

A conversation of ${ledger.tokens} tokens in ${ledger.messages} messages.

| | first time in the process, ms | later, ms |
| --- | --- | --- |
${row('read off the messages', exact(ledger.read.first), exact(ledger.read.later))}
`
}

function scratchRow(it: ScratchTimes): string {
  const times = [it.firstFold, it.firstPlans, it.fold, it.situation, it.plans, it.request, it.turn, it.repair]
  return row(it.messages, it.entries, ...times.map(exact))
}
