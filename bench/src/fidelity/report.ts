// The results of the fidelity benchmark as tables. Names of cases and figures, no text of the transcripts.
import type { Scores } from './measure.ts'

export type Row = Scores & { readonly contender: string; readonly at: 'recorded' | 'half' | number }
export type CaseReport = {
  readonly name: string
  readonly needed: number
  readonly human: number
  readonly rows: readonly Row[]
}

export type Measured = {
  readonly cases: readonly CaseReport[]
  readonly cuts: readonly CaseReport[]
  readonly versions: string
}

export function markdown({ cases, cuts, versions }: Measured): string {
  return [
    '# Fidelity: what the agent needed afterwards',
    '',
    `Written by \`npm run bench -- fidelity\` with ${versions}.`,
    '',
    'A diagnostic without targets: a list of names scores high here and helps nobody. What the next agent can do with its context is measured by [handover](handover.md).',
    '',
    `${cases.length} recorded compactions (${new Set(cases.map(({ name }) => name.split('#')[0])).size} sessions). *Needed* are the paths, identifiers, hashes, URLs and numbers of three or more digits that the assistant wrote after the compaction and had seen before it. *Recall* is the share of them that occurs in the context as whole words. *Without margins* leaves out numbers that were only seen as line numbers beside a line of a file: most of these are new numbers that happen to be the same.`,
    '',
    'User messages are compared verbatim, apart from white space. Rules are the sentences that the ledger takes for standing rules. *Unsupported* counts names in the context that occur nowhere before it and that the context does not itself call unverified. Tokens are estimated in the same way for everyone.',
    '',
    '*ours* is what `everlong compact FILE --before UUID --budget N` leaves. *ours, recorded summary* gets the summary that the recorded client got from its model; so do the peers, which run their own code except for Cline and Codex. Peers have no budget for the whole context and are cut from the oldest end. *recorded* is what the client left: summary, kept messages, restored files.',
    '',
    '## At no more tokens than the recorded context',
    '',
    ...meanTable(cases, ['recorded']),
    '',
    '## At half of it',
    '',
    ...meanTable(cases, ['half']),
    '',
    '## Recall at fixed budgets',
    '',
    ...budgetTable(cases, 'recall'),
    '',
    'The same, without margins:',
    '',
    ...budgetTable(cases, 'recallApart'),
    '',
    ...cutTables(cuts),
    '## Each compaction, at no more tokens than recorded: recall',
    '',
    ...caseTable(cases),
    '',
  ].join('\n')
}

function meanTable(cases: readonly CaseReport[], ats: readonly Row['at'][]): readonly string[] {
  const rows = cases.flatMap((found) => found.rows).filter(({ at }) => ats.includes(at))
  const lines = contendersOf(rows).map((contender) => {
    const own = rows.filter((row) => row.contender === contender)
    const cells = [
      mean(own, 'recall').toFixed(3),
      mean(own, 'recallApart').toFixed(3),
      mean(own, 'human').toFixed(2),
      mean(own, 'edited').toFixed(2),
      mean(own, 'commands').toFixed(2),
      mean(own, 'rules').toFixed(2),
      mean(own, 'unsupported').toFixed(1),
      Math.round(mean(own, 'tokens')).toLocaleString('en'),
    ]
    return `| ${contender} | ${cells.join(' | ')} |`
  })
  return [
    '| | recall | without margins | human messages verbatim | files edited | commands | rules | unsupported | tokens |',
    '| --- | --: | --: | --: | --: | --: | --: | --: | --: |',
    ...lines,
  ]
}

function budgetTable(cases: readonly CaseReport[], key: 'recall' | 'recallApart'): readonly string[] {
  const rows = cases.flatMap((found) => found.rows).filter(({ at }) => typeof at === 'number')
  const budgets = [...new Set(rows.map(({ at }) => at))]
  const lines = contendersOf(rows).map((contender) => {
    const cells = budgets.map((budget) =>
      mean(
        rows.filter((row) => row.contender === contender && row.at === budget),
        key,
      ).toFixed(3),
    )
    return `| ${contender} | ${cells.join(' | ')} |`
  })
  return [`| | ${budgets.join(' | ')} |`, `| --- |${budgets.map(() => ' --: |').join('')}`, ...lines]
}

/** More points than those recorded: whether the figures above are of a few places only. */
function cutTables(cuts: readonly CaseReport[]): readonly string[] {
  if (cuts.length === 0) return []
  return [
    '## At other points of the sessions',
    '',
    `${cuts.length} other points of ${new Set(cuts.map(({ name }) => name.split('@')[0])).size} sessions, spread evenly, as if there had been a compaction; needed is what the next 60 answers used. There is no recorded summary here. Recall:`,
    '',
    ...budgetTable(cuts, 'recall'),
    '',
    'The same, without margins:',
    '',
    ...budgetTable(cuts, 'recallApart'),
    '',
  ]
}

function caseTable(cases: readonly CaseReport[]): readonly string[] {
  const names = contendersOf(cases.flatMap((found) => found.rows))
  const lines = cases.map((found) => {
    const own = found.rows.filter(({ at }) => at === 'recorded')
    const cells = names.map((name) => (own.find((row) => row.contender === name)?.recall ?? 0).toFixed(2))
    return `| ${found.name} | ${found.needed} | ${own[0]?.tokens.toLocaleString('en')} | ${cells.join(' | ')} |`
  })
  return [
    `| | needed | tokens | ${names.join(' | ')} |`,
    `| --- | --: | --: |${names.map(() => ' --: |').join('')}`,
    ...lines,
  ]
}

function contendersOf(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.map(({ contender }) => contender))]
}

function mean(rows: readonly Row[], key: keyof Scores): number {
  return rows.reduce((sum, row) => sum + row[key], 0) / Math.max(1, rows.length)
}
