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
    `${cases.length} recorded compactions (${new Set(cases.map(({ name }) => name.split('#')[0])).size} sessions). *Needed* are the paths, identifiers, hashes, URLs and numbers of three digits and more that the assistant wrote after the compaction and had seen before it. *Recall* is the share of them that stands in the context as words of their own, not inside longer ones. *Without margins* leaves out numbers that were only ever seen as the line number beside a line of some file: most of these are new numbers that happen to be the same.`,
    '',
    'Human messages are compared word for word, but for white space. Rules are the sentences of the user that the ledger takes for standing constraints. Unsupported are atoms of the context that are nowhere in what came before, the records of the client included, and that the context does not itself call doubtful. Tokens are estimated alike for everybody.',
    '',
    '*ours* is what `everlong compact FILE --before UUID --budget N` leaves: the words around the summary, the summary, what is put back, with the facts of the whole session so far. *ours, recorded summary* gets the very summary that the recorded client got from its model, then verified and mended; so do the peers, by their own code but for Cline and Codex. They have no budget for the whole: what is too much is cut from the oldest end. *recorded* is what the client left: summary, kept messages, restored files.',
    '',
    '## Targets',
    '',
    ...targetTable(cases),
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

type Target = { readonly contender: string; readonly at: Row['at']; readonly recall: number }

const targets: readonly Target[] = [
  { contender: 'ours, offline', at: 'recorded', recall: 0.9 },
  { contender: 'ours, recorded summary', at: 'recorded', recall: 0.93 },
  { contender: 'ours, offline', at: 24_000, recall: 0.97 },
  { contender: 'ours, recorded summary', at: 24_000, recall: 0.97 },
]

/** What falls short is said, with the reason. */
function targetTable(cases: readonly CaseReport[]): readonly string[] {
  const lines = targets.map(({ contender, at, recall }) => {
    const own = cases.flatMap(({ rows }) => rows).filter((row) => row.contender === contender && row.at === at)
    const reached = mean(own, 'recall')
    const place = at === 'recorded' ? 'tokens of the recorded context' : `${at} tokens`
    const verdict = reached >= recall ? 'reached' : 'short'
    return `| ${contender}, ${place} | ${recall.toFixed(2)} | ${reached.toFixed(3)} | ${mean(own, 'recallApart').toFixed(3)} | ${verdict} |`
  })
  return [
    '| | target | recall | without margins | |',
    '| --- | --: | --: | --: | --- |',
    ...lines,
    '',
    'What is missing where the room is smallest is mostly numbers and names seen once or twice in some output: longer lists of names would hold some of them, and would tell the next agent less. A recorded summary adds little: at the same tokens its prose takes the room of facts, and most of what it names stands among these anyway; what it says of the request, of what is pending and what is going on is kept all the same. Beyond 16,000 tokens what is missing is nearly all numbers: offsets that the agent chose anew and that happen to equal a line number of some file it had seen.',
  ]
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
    `${cuts.length} other points of ${new Set(cuts.map(({ name }) => name.split('@')[0])).size} sessions, spread evenly, as if there had been a compaction; needed is what the next 60 answers used. There is no recorded summary here. How likely a name is needed again was fitted on half of such points and of the recorded ones, and held against the other half, both ways round: the weights came out nearly the same. What was added later, for ids, outputs and how often a name was seen, was chosen by hand, and kept because both halves gained. So this is a check, not a blind trial. Recall:`,
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
