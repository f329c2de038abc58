// The page of the handover benchmark. Names of cases and figures, no text of the transcripts.
import { type Page, type Table, table, targetTable } from '../benchmark.ts'
import { readingParts, readReadings } from './readings.ts'
import {
  alone,
  type CaseReport,
  type HandoverFigures,
  handovers,
  mean,
  type Row,
  recorded,
  rowIn,
  rowsOf,
  type Select,
  withModel,
} from './rows.ts'

export function handoverPage({ cases, targets, kinds, lost }: HandoverFigures): Page {
  return {
    title: 'Handover: can the next agent continue?',
    parts: [
      'Written by `npm run bench -- handover`.',
      `${cases.length} recorded compactions with ${cases.reduce((sum, { probes }) => sum + probes, 0)} questions about the work, asked of the context that each contender leaves for the next agent and graded by code. An answer has several elements, and all of them must be stated in one passage of at most 1,200 characters: all of them score 1, half of them 0.5. So a list of names scores nothing. *Weighted* counts questions double whose answer prevents harm or repeated work.`,
      '*Model summary* is a strong model’s answer to our own summary request; every contender that takes a summary gets it. *Ordinary summary* is what an everyday model wrote in answer to the same request. *Recorded* is the context that the recorded client left. At a limit, the whole context has at most that many tokens; peers, which have no limit for the whole, are cut from the oldest end. The model in this benchmark is a script and cannot write a shorter summary, so below the size of its summary our own shortening is measured.',
      '## Targets',
      targetTable(targets),
      '## Readings',
      ...readingParts(readReadings()),
      '## Mean score by size',
      sizeTable(cases, 'score'),
      'Weighted:',
      sizeTable(cases, 'weighted'),
      '## With one search, at default settings',
      'Questions that the context does not answer in full; how many of them some single text of the conversation answers (the others need several texts, or a conclusion); and how many of them one of the first ten cards answers when it is read (of a call also its result), if the agent searches for the words of the question.',
      searchTable(cases),
      '## By kind of question, at default settings',
      table(
        ['', ...Object.keys(kinds[withModel] ?? {})],
        Object.entries(kinds).map(([contender, scores]) => {
          return [contender, ...Object.values(scores).map((score) => score.toFixed(2))]
        }),
      ),
      '## By case',
      caseTable(cases),
      'In brackets: tokens of the context.',
      '## Where the tokens go, at default settings',
      partsTable(cases),
      'Without a model, what the user and the agent said counts as the user’s words.',
      '## Answered by the summary alone and not by our context',
      lost.map((one) => `- ${one.case}, question ${one.question}: ${one.scores.join(' → ')}`).join('\n') || 'None.',
    ],
  }
}

const sizes: readonly Row['at'][] = ['as it is', 'default', 'recorded', 3_000, 6_000, 12_000, 24_000]

function sizeTable(cases: readonly CaseReport[], key: 'score' | 'weighted'): Table {
  const names = [...new Set(cases.flatMap(({ rows }) => rows.map(({ contender }) => contender)))]
  const cell = (own: readonly Row[]) => (own.length === 0 ? '' : mean(own, key).toFixed(3))
  return table(
    ['', ...sizes],
    names.map((contender) => [contender, ...sizes.map((at) => cell(rowsOf(cases, { contender, at })))]),
  )
}

function searchTable(cases: readonly CaseReport[]): Table {
  const counts = ['open', 'stated', 'found'] as const
  return table(
    ['', 'not answered', 'answered by some text', 'found with one search'],
    handovers.map((contender) => {
      const rows = rowsOf(cases, { contender, at: 'default' })
      return [contender, ...counts.map((key) => rows.reduce((sum, { search }) => sum + (search?.[key] ?? 0), 0))]
    }),
  )
}

function caseTable(cases: readonly CaseReport[]): Table {
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
  return table(
    ['', ...selects.map(({ contender, at }) => `${contender}, ${at}`)],
    cases.map((found) => {
      const rows = selects.map((select) => rowIn(found, select))
      return [found.name, ...rows.map((row) => row && `${row.score.toFixed(3)} (${row.tokens.toLocaleString('en')})`)]
    }),
  )
}

function partsTable(cases: readonly CaseReport[]): Table {
  const names = ['model', 'user', 'state', 'rules', 'facts', 'restored'] as const
  const contenders = [
    withModel,
    'ours, ordinary summary',
    'ours, recorded summary',
    'ours, offline',
    'ours, session memory',
  ]
  const headings = ['model’s words', 'user’s words', 'state', 'rules', 'facts by code', 'restored']
  return table(
    ['', 'handover, without restored files', ...headings],
    contenders.flatMap((contender) =>
      cases.map((found) => {
        const row = rowIn(found, { contender, at: 'default' })
        const figures = [row?.handover ?? 0, ...names.map((name) => row?.composition?.[name] ?? 0)]
        return [`${contender}, ${found.name}`, ...figures.map((figure) => figure.toLocaleString('en'))]
      }),
    ),
  )
}
