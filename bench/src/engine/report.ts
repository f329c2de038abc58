// `npm run bench -- engine`: the speeds that the engine promises, beside what they are promised to be. Recall has a
// benchmark of its own, which takes minutes: its checked-in results are told here.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figures } from '../recall/report.ts'
import { writeResults } from '../results.ts'
import { root } from '../root.ts'
import { type Folding, measureFolding } from './folding.ts'
import { type LedgerTimes, measureLedger } from './ledger.ts'
import { measurePlanning, type Planned } from './planning.ts'
import { measureTurns, type TurnTimes } from './turns.ts'

export type EngineReport = {
  readonly node: string
  readonly targets: readonly Target[]
  readonly planning: readonly Planned[]
  readonly folding: Folding
  readonly ledger: LedgerTimes
  readonly turns: readonly TurnTimes[]
}

type Target = { readonly what: string; readonly wanted: number; readonly milliseconds: number }

export async function run(): Promise<void> {
  const turns = await measureTurns()
  const ledger = measureLedger()
  const planning = measurePlanning()
  const folding = measureFolding()
  const report = {
    node: process.versions.node,
    targets: targetsOf({ planning, folding, ledger, turns }),
    planning,
    folding,
    ledger,
    turns,
  }
  writeResults('engine', { markdown: asMarkdown(report), json: report })
}

function targetsOf({ planning, folding, ledger, turns }: Omit<EngineReport, 'node' | 'targets'>): readonly Target[] {
  const [calm] = planning
  const slowest = Math.max(...planning.map(({ situation, plans }) => situation + plans))
  const longest = Math.max(...folding.folded.map(({ milliseconds }) => milliseconds))
  const recall = slowestRecall()
  return [
    { what: 'planning over 10,000 messages, the slowest case', wanted: 5, milliseconds: slowest },
    { what: 'a turn in which nothing is to be done, at 10,000 messages', wanted: 1, milliseconds: calm?.turn ?? 0 },
    {
      what: 'a whole turn of a session at 10,000 messages, the slower case',
      wanted: 1,
      milliseconds: Math.max(...turns.map(({ turn }) => turn)),
    },
    { what: 'folding 100,000 entries, the slower case', wanted: 300, milliseconds: longest },
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

function asMarkdown({ node, targets, planning, folding, ledger, turns }: EngineReport): string {
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

## Planning before a request

By size, by idle time, by cache edit and native, over a conversation that grew and was planned before each request with
one weigher. *Turn* is two entries more, the view with its lists, the situation and the plans. *Cold* is the situation and
the plans for a view that nobody has weighed: every text in it is read once, to estimate its tokens.

| case | messages | fold | situation | plans | turn | cold | cold / warm |
| --- | --- | --- | --- | --- | --- | --- | --- |
${planning.map(planRow).join('\n')}

What they said: ${planning.map(({ outcome }) => outcome.join(', ')).join('; ')}.

## Folding

${folding.entries} entries from nothing, and the view with its lists.

| transcript | messages in view | fold, ms | beside reading every head | repair of the view, ms |
| --- | --- | --- | --- | --- |
${folding.folded.map((it) => row(it.name, it.messages, exact(it.milliseconds), `${(it.milliseconds / it.headsMilliseconds).toFixed(1)} ×`, exact(it.repairMilliseconds))).join('\n')}

One more entry, or an edit that clears one result, and a view each time, in microseconds; then entries behind the edits.
The lists of a view, and the answers whose prefix has changed, are made when somebody looks at them.

| entries before | entry | edit | entry behind 200 edits | its lists | its changed answers |
| --- | --- | --- | --- | --- | --- |
${folding.steps.map((it) => row(it.entries, ...[it.entry, it.edit, it.entryAfterEdits, it.lists, it.changed].map((value) => value.toFixed(0)))).join('\n')}

## The ledger

A conversation of ${ledger.tokens} tokens in ${ledger.messages} messages.

| | first time in the process, ms | later, ms |
| --- | --- | --- |
${row('read off the messages', exact(ledger.read.first), exact(ledger.read.later))}
`
}

function planRow({ name, messages, fold, situation, plans, turn, cold }: Planned): string {
  return row(
    name,
    messages,
    ...[fold, situation, plans, turn, cold].map(exact),
    `${Math.round(cold / (situation + plans))} ×`,
  )
}
