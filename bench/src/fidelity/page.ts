// The page of the fidelity benchmark. Names of cases and figures, no text of the transcripts.
import { type Page, type Table, table } from '../benchmark.ts'
import type { Scores } from './measure.ts'

export type Row = Scores & { readonly contender: string; readonly at: 'recorded' | 'half' | number }
export type CaseReport = {
  readonly name: string
  readonly needed: number
  readonly human: number
  readonly rows: readonly Row[]
}

export type FidelityFigures = {
  readonly versions: string
  readonly cases: readonly CaseReport[]
  readonly cuts: readonly CaseReport[]
}

export function fidelityPage({ cases, cuts, versions }: FidelityFigures): Page {
  return {
    title: 'Fidelity: what the agent needed afterwards',
    parts: [
      `Written by \`npm run bench -- fidelity\` with ${versions}.`,
      'A diagnostic without targets: a list of names scores high here and helps nobody. What the next agent can do with its context is measured by [handover](handover.md).',
      `${cases.length} recorded compactions (${new Set(cases.map(({ name }) => name.split('#')[0])).size} sessions). *Needed* are the paths, identifiers, hashes, URLs and numbers of three or more digits that the assistant wrote after the compaction and had seen before it. *Recall* is the share of them that occurs in the context as whole words. *Without margins* leaves out numbers that were only seen as line numbers beside a line of a file: most of these are new numbers that happen to be the same.`,
      'User messages are compared verbatim, apart from white space. Rules are the sentences that the ledger takes for standing rules. *Unsupported* counts names in the context that occur nowhere before it and that the context does not itself call unverified. Tokens are estimated in the same way for everyone.',
      '*ours* is what `everlong compact FILE --before UUID --budget N` leaves. *ours, recorded summary* gets the summary that the recorded client got from its model; so do the peers, which run their own code except for Cline and Codex. Peers have no budget for the whole context and are cut from the oldest end. *recorded* is what the client left: summary, kept messages, restored files.',
      '## At no more tokens than the recorded context',
      meanTable(cases, 'recorded'),
      '## At half of it',
      meanTable(cases, 'half'),
      '## Recall at fixed budgets',
      ...budgetParts(cases),
      ...cutParts(cuts),
      '## Each compaction, at no more tokens than recorded: recall',
      caseTable(cases),
    ],
  }
}

function meanTable(cases: readonly CaseReport[], size: Row['at']): Table {
  const rows = cases.flatMap((found) => found.rows).filter(({ at }) => at === size)
  const headings = [
    'recall',
    'without margins',
    'human messages verbatim',
    'files edited',
    'commands',
    'rules',
    'unsupported',
  ]
  return table(
    ['', ...headings, 'tokens'],
    contendersOf(rows).map((contender) => {
      const own = rows.filter((row) => row.contender === contender)
      return [
        contender,
        mean(own, 'recall').toFixed(3),
        mean(own, 'recallApart').toFixed(3),
        mean(own, 'human').toFixed(2),
        mean(own, 'edited').toFixed(2),
        mean(own, 'commands').toFixed(2),
        mean(own, 'rules').toFixed(2),
        mean(own, 'unsupported').toFixed(1),
        Math.round(mean(own, 'tokens')).toLocaleString('en'),
      ]
    }),
  )
}

function budgetParts(cases: readonly CaseReport[]): Page['parts'] {
  return [budgetTable(cases, 'recall'), 'The same, without margins:', budgetTable(cases, 'recallApart')]
}

function budgetTable(cases: readonly CaseReport[], key: 'recall' | 'recallApart'): Table {
  const rows = cases.flatMap((found) => found.rows).filter(({ at }) => typeof at === 'number')
  const budgets = [...new Set(rows.map(({ at }) => at))]
  return table(
    ['', ...budgets],
    contendersOf(rows).map((contender) => {
      const own = rows.filter((row) => row.contender === contender)
      const at = (budget: Row['at']) => own.filter((row) => row.at === budget)
      return [contender, ...budgets.map((budget) => mean(at(budget), key).toFixed(3))]
    }),
  )
}

/** More points than those recorded, to see whether the figures above hold elsewhere. */
function cutParts(cuts: readonly CaseReport[]): Page['parts'] {
  if (cuts.length === 0) return []
  return [
    '## At other points of the sessions',
    `${cuts.length} other points of ${new Set(cuts.map(({ name }) => name.split('@')[0])).size} sessions, spread evenly, as if there had been a compaction; needed is what the next 60 answers used. There is no recorded summary here. Recall:`,
    ...budgetParts(cuts),
  ]
}

function caseTable(cases: readonly CaseReport[]): Table {
  const names = contendersOf(cases.flatMap((found) => found.rows))
  return table(
    ['', 'needed', 'tokens', ...names],
    cases.map((found) => {
      const own = found.rows.filter(({ at }) => at === 'recorded')
      const cells = names.map((name) => (own.find((row) => row.contender === name)?.recall ?? 0).toFixed(2))
      return [found.name, found.needed, own[0]?.tokens.toLocaleString('en'), ...cells]
    }),
  )
}

function contendersOf(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.map(({ contender }) => contender))]
}

function mean(rows: readonly Row[], key: keyof Scores): number {
  return rows.reduce((sum, row) => sum + row[key], 0) / Math.max(1, rows.length)
}
