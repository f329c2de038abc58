// The results of the handover benchmark as tables. Names of cases and figures, no text of the transcripts.
import type { Compacted } from 'everlong'
import { type Grade, meanScore, weightedMean } from './grade.ts'

export type Row = {
  readonly contender: string
  readonly at: 'as it is' | 'default' | 'recorded' | number
  readonly tokens: number
  readonly characters: number
  readonly grades: readonly Grade[]
  readonly composition?: Compacted['composition']
}

export type CaseReport = { readonly name: string; readonly probes: number; readonly rows: readonly Row[] }

export function markdown(cases: readonly CaseReport[]): string {
  return [
    '# Handover: can the next agent go on?',
    '',
    'Written by `npm run bench -- handover`.',
    '',
    `${cases.length} recorded compactions with ${cases.reduce((sum, { probes }) => sum + probes, 0)} questions about the work, asked of the context that each contender leaves for the next agent and graded by code. An answer has several elements, and all of them must be stated in one passage of at most 1,200 characters: all of them score 1, half of them 0.5. So a list of names scores nothing. *Weighted* counts questions double whose answer prevents harm or repeated work.`,
    '',
    '*Model summary* is a strong model’s answer to our own summary request; every contender that takes a summary gets it. *Recorded* is the context that the recorded client left. At a limit, the whole context has at most that many tokens; peers, which have no limit for the whole, are cut from the oldest end. The model in this benchmark is a script and cannot write a shorter summary, so below the size of its summary our own shortening is measured.',
    '',
    '## Targets',
    '',
    ...targetTable(cases),
    '',
    '## Mean score by size',
    '',
    ...sizeTable(cases, meanScore),
    '',
    'Weighted:',
    '',
    ...sizeTable(cases, weightedMean),
    '',
    '## By kind of question, at default settings',
    '',
    ...kindTable(cases),
    '',
    '## By case',
    '',
    ...caseTable(cases),
    '',
    '## Where the tokens go, at default settings',
    '',
    ...partsTable(cases),
    '',
    '## Answered by the summary alone and not by our context',
    '',
    ...lostList(cases),
    '',
  ].join('\n')
}

type Select = { readonly contender: string; readonly at: Row['at'] }

function rowsOf(cases: readonly CaseReport[], { contender, at }: Select): readonly Row[] {
  return cases.flatMap(({ rows }) => rows.filter((row) => row.contender === contender && row.at === at))
}

function rowIn({ rows }: CaseReport, { contender, at }: Select): Row | undefined {
  return rows.find((row) => row.contender === contender && row.at === at)
}

/** Of the cases' means, so that a case with many questions counts no more than another. */
function mean(rows: readonly Row[], score: (grades: readonly Grade[]) => number): number {
  return rows.reduce((sum, { grades }) => sum + score(grades), 0) / Math.max(1, rows.length)
}

const withModel = 'ours, model summary'
const alone: Select = { contender: 'model summary alone', at: 'as it is' }
const recorded: Select = { contender: 'recorded', at: 'as it is' }

function targetTable(cases: readonly CaseReport[]): readonly string[] {
  const scoreOf = (select: Select) => mean(rowsOf(cases, select), meanScore)
  const ours = { contender: withModel, at: 'default' } as const
  const own = (found: CaseReport, select: Select) => meanScore(rowIn(found, select)?.grades ?? [])
  const below = (select: Select, other: Select) =>
    cases.filter((found) => own(found, select) < own(found, other)).length
  const extra = Math.max(
    ...rowsOf(cases, ours).map(({ composition }) => pageTokens(composition) - (composition?.model ?? 0)),
  )
  const recordedSummary = { contender: 'ours, recorded summary', at: 'recorded' } as const
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    [
      'model summary, default: cases below the summary alone',
      'none',
      `${below(ours, alone)} (mean ${scoreOf(ours).toFixed(3)}, alone ${scoreOf(alone).toFixed(3)})`,
      below(ours, alone) === 0,
    ],
    [
      'the page beyond the summary, without restored context',
      'at most 2,000 tokens',
      `at most ${extra.toLocaleString('en')}`,
      extra <= 2_000,
    ],
    atLeast('model summary, at the recorded size', scoreOf({ contender: withModel, at: 'recorded' }), 0.68),
    [
      'recorded summary, at the recorded size: cases below the recorded context',
      'none',
      String(below(recordedSummary, recorded)),
      below(recordedSummary, recorded) === 0,
    ],
    atLeast('recorded summary, at the recorded size', scoreOf(recordedSummary), 0.7),
    atLeast('offline, at the recorded size', scoreOf({ contender: 'ours, offline', at: 'recorded' }), 0.6),
    atLeast('offline, 12,000 tokens', scoreOf({ contender: 'ours, offline', at: 12_000 }), 0.7),
  ]
  return [
    '| | wanted | measured | met |',
    '| --- | --- | --- | --- |',
    ...rows.map(([what, wanted, measured, isMet]) => `| ${what} | ${wanted} | ${measured} | ${isMet ? 'yes' : 'no'} |`),
  ]
}

function atLeast(what: string, measured: number, wanted: number): readonly [string, string, string, boolean] {
  return [what, `at least ${wanted.toFixed(2)}`, measured.toFixed(3), measured >= wanted]
}

function pageTokens(composition: Row['composition']): number {
  if (!composition) return 0
  const { restored: _, ...page } = composition
  return Object.values(page).reduce((sum, tokens) => sum + tokens, 0)
}

const sizes: readonly Row['at'][] = ['default', 'recorded', 3_000, 6_000, 12_000, 24_000]

function sizeTable(cases: readonly CaseReport[], score: (grades: readonly Grade[]) => number): readonly string[] {
  const names = [...new Set(cases.flatMap(({ rows }) => rows.map(({ contender }) => contender)))]
  const lines = names.map((contender) => {
    const cells = sizes.map((at) => {
      const own = rowsOf(cases, { contender, at })
      return own.length === 0 ? '' : mean(own, score).toFixed(3)
    })
    const fixed = rowsOf(cases, { contender, at: 'as it is' })
    return `| ${contender} | ${fixed.length === 0 ? '' : mean(fixed, score).toFixed(3)} | ${cells.join(' | ')} |`
  })
  return [
    `| | as it is | ${sizes.map(String).join(' | ')} |`,
    `| --- | --: |${sizes.map(() => ' --: |').join('')}`,
    ...lines,
  ]
}

function kindTable(cases: readonly CaseReport[]): readonly string[] {
  const selects: readonly Select[] = [
    recorded,
    alone,
    { contender: withModel, at: 'default' },
    { contender: 'ours, offline', at: 'default' },
  ]
  const kinds = [...new Set(cases.flatMap(({ rows }) => rows[0]?.grades.map(({ kind }) => kind) ?? []))]
  const lines = selects.map((select) => {
    const grades = rowsOf(cases, select).flatMap((row) => row.grades)
    const cells = kinds.map((kind) => meanScore(grades.filter((grade) => grade.kind === kind)).toFixed(2))
    return `| ${select.contender} | ${cells.join(' | ')} |`
  })
  return [`| | ${kinds.join(' | ')} |`, `| --- |${kinds.map(() => ' --: |').join('')}`, ...lines]
}

function caseTable(cases: readonly CaseReport[]): readonly string[] {
  const selects: readonly Select[] = [
    recorded,
    alone,
    { contender: withModel, at: 'default' },
    { contender: withModel, at: 'recorded' },
    { contender: 'ours, recorded summary', at: 'recorded' },
    { contender: 'ours, offline', at: 'recorded' },
    { contender: 'ours, offline', at: 12_000 },
    { contender: 'ours, session memory', at: 'default' },
  ]
  const lines = cases.map((found) => {
    const cells = selects.map((select) => {
      const row = rowIn(found, select)
      return row ? `${meanScore(row.grades).toFixed(3)} (${row.tokens.toLocaleString('en')})` : ''
    })
    return `| ${found.name} | ${cells.join(' | ')} |`
  })
  return [
    `| | ${selects.map(({ contender, at }) => `${contender}, ${at}`).join(' | ')} |`,
    `| --- |${selects.map(() => ' --: |').join('')}`,
    ...lines,
    '',
    'In brackets: tokens of the context.',
  ]
}

function partsTable(cases: readonly CaseReport[]): readonly string[] {
  const names = ['model', 'user', 'state', 'rules', 'facts', 'restored'] as const
  const contenders = [withModel, 'ours, recorded summary', 'ours, offline', 'ours, session memory']
  const lines = contenders.flatMap((contender) =>
    cases.map((found) => {
      const composition = rowIn(found, { contender, at: 'default' })?.composition
      return `| ${contender}, ${found.name} | ${names.map((name) => (composition?.[name] ?? 0).toLocaleString('en')).join(' | ')} |`
    }),
  )
  return [
    `| | model’s words | user’s words | state | rules | facts by code | restored |`,
    `| --- |${names.map(() => ' --: |').join('')}`,
    ...lines,
    '',
    'Without a model, what the user and the agent said counts as the user’s words.',
  ]
}

function lostList(cases: readonly CaseReport[]): readonly string[] {
  const lost = cases.flatMap((found) => {
    const before = rowIn(found, alone)?.grades ?? []
    const after = rowIn(found, { contender: withModel, at: 'default' })?.grades ?? []
    return before.flatMap(({ id, score }) => {
      const now = after.find((grade) => grade.id === id)?.score ?? 0
      return now < score ? [`- ${found.name}, question ${id}: ${score} → ${now}`] : []
    })
  })
  return lost.length === 0 ? ['None.'] : lost
}
