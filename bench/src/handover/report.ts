// The results of the handover benchmark as tables. Names of cases and figures, no text of the transcripts.
import type { Target } from '../summary/target.ts'
import { type Grade, meanScore, weightedMean } from './grade.ts'
import { type Reading, readingsTable } from './readings.ts'
import {
  alone,
  type CaseReport,
  handovers,
  mean,
  type Row,
  recorded,
  rowIn,
  rowsOf,
  type Select,
  withModel,
} from './rows.ts'

export type Measured = {
  readonly cases: readonly CaseReport[]
  readonly targets: readonly Target[]
  readonly readings: readonly Reading[]
}

export function markdown({ cases, targets, readings }: Measured): string {
  return [
    '# Handover: can the next agent go on?',
    '',
    'Written by `npm run bench -- handover`.',
    '',
    `${cases.length} recorded compactions with ${cases.reduce((sum, { probes }) => sum + probes, 0)} questions about the work, asked of the context that each contender leaves for the next agent and graded by code. An answer has several elements, and all of them must be stated in one passage of at most 1,200 characters: all of them score 1, half of them 0.5. So a list of names scores nothing. *Weighted* counts questions double whose answer prevents harm or repeated work.`,
    '',
    '*Model summary* is a strong model’s answer to our own summary request; every contender that takes a summary gets it. *Ordinary summary* is what an everyday model wrote in answer to the same request. *Recorded* is the context that the recorded client left. At a limit, the whole context has at most that many tokens; peers, which have no limit for the whole, are cut from the oldest end. The model in this benchmark is a script and cannot write a shorter summary, so below the size of its summary our own shortening is measured.',
    '',
    '## Targets',
    '',
    ...targetTable(targets),
    '',
    '## Readings',
    '',
    ...readingsTable(readings),
    '',
    '## Mean score by size',
    '',
    ...sizeTable(cases, meanScore),
    '',
    'Weighted:',
    '',
    ...sizeTable(cases, weightedMean),
    '',
    '## With one search, at default settings',
    '',
    ...searchTable(cases),
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

function targetTable(targets: readonly Target[]): readonly string[] {
  return [
    '| | wanted | measured | met |',
    '| --- | --- | --- | --- |',
    ...targets.map(
      ({ what, wanted, measured, met }) => `| ${what} | ${wanted} | ${measured} | ${met ? 'yes' : 'no'} |`,
    ),
  ]
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

function searchTable(cases: readonly CaseReport[]): readonly string[] {
  const lines = handovers.map((contender) => {
    const counts = rowsOf(cases, { contender, at: 'default' }).flatMap(({ search }) => search ?? [])
    const sum = (key: 'open' | 'stated' | 'found') => counts.reduce((total, count) => total + count[key], 0)
    return `| ${contender} | ${sum('open')} | ${sum('stated')} | ${sum('found')} |`
  })
  return [
    'Questions that the context does not answer in full; how many of them some single text of the conversation answers (the others need several texts, or a conclusion); and how many of them one of the first ten cards answers when it is read, if the agent searches for the words of the question.',
    '',
    '| | not answered | answered by some text | found with one search |',
    '| --- | --: | --: | --: |',
    ...lines,
  ]
}

function kindTable(cases: readonly CaseReport[]): readonly string[] {
  const selects: readonly Select[] = [
    recorded,
    alone,
    { contender: withModel, at: 'default' },
    { contender: 'ours, ordinary summary', at: 'default' },
    { contender: 'ours, recorded summary', at: 'default' },
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
    { contender: 'ours, ordinary summary', at: 'default' },
    { contender: 'ours, recorded summary', at: 'default' },
    { contender: 'ours, offline', at: 'default' },
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
  const contenders = [
    withModel,
    'ours, ordinary summary',
    'ours, recorded summary',
    'ours, offline',
    'ours, session memory',
  ]
  const lines = contenders.flatMap((contender) =>
    cases.map((found) => {
      const row = rowIn(found, { contender, at: 'default' })
      const figures = [row?.handover ?? 0, ...names.map((name) => row?.composition?.[name] ?? 0)]
      return `| ${contender}, ${found.name} | ${figures.map((figure) => figure.toLocaleString('en')).join(' | ')} |`
    }),
  )
  return [
    `| | handover, without restored files | model’s words | user’s words | state | rules | facts by code | restored |`,
    `| --- | --: |${names.map(() => ' --: |').join('')}`,
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
