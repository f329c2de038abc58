// `npm run bench -- readme`: puts the main figures of the checked-in results into the README, between its two marks.
// A test says when they differ, so nobody types them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { against, type CostReport } from './cost/report-markdown.ts'
import type { StoredCase } from './handover/rows.ts'
import { root } from './root.ts'
import type { Target } from './summary/target.ts'
import type { TokensReport } from './tokens/report-markdown.ts'
import type { TranscriptReport } from './transcript/report.ts'

const start = '<!-- figures -->'
const end = '<!-- end of figures -->'

export function run(): void {
  const path = join(root, 'README.md')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, withFigures(text))
  console.log('README.md has the figures of bench/results.')
}

export function withFigures(readme: string): string {
  const from = readme.indexOf(start)
  const to = readme.indexOf(end)
  if (from < 0 || to < from)
    throw new Error(`README.md has lost its marks: put ${start} and ${end} around the figures.`)
  return `${readme.slice(0, from + start.length)}\n${figures()}\n${readme.slice(to)}`
}

function figures(): string {
  return [
    '| what | figure |',
    '| --- | --- |',
    handoverRow(),
    ...roundsRows(),
    costRow(),
    ...transcriptRows(),
    ...tokenRows(),
  ].join('\n')
}

const results = <T>(name: string): T =>
  JSON.parse(readFileSync(join(root, 'bench/results', `${name}.json`), 'utf8')) as T
const percent = (share: number, digits = 1) => `${(100 * share).toFixed(digits)} %`

/** Questions about recorded compactions, graded by code. */
function handoverRow(): string {
  const { cases } = results<{ readonly cases: readonly StoredCase[] }>('handover')
  const score = (contender: string, at: StoredCase['rows'][number]['at']) => {
    const rows = cases.flatMap((found) => found.rows.filter((row) => row.contender === contender && row.at === at))
    return percent(rows.reduce((sum, row) => sum + row.score, 0) / rows.length, 0)
  }
  const questions = cases.reduce((sum, { probes }) => sum + probes, 0)
  return `| questions about the work that the next agent can answer from its context (${questions}, after ${cases.length} recorded compactions) | ${score('ours, model summary', 'default')} with a strong model's summary, ${score('ours, offline', 'default')} without a model; from the context that the recorded client left: ${score('recorded', 'as it is')} |`
}

/** The peers' best share stands in what was wanted of ours. */
function roundsRows(): readonly string[] {
  const { targets } = results<{ readonly targets: readonly Target[] }>('rounds')
  const kept = targets.find(({ what }) => what === 'Everlong, without a model: more in the context than the best peer')
  if (!kept) throw new Error('bench/results/rounds.json does not say what is left: run npm run bench -- rounds.')
  return [
    `| of 200 facts told once each in 2,000 turns, in the context at the end, some twenty compactions later | ${kept.measured} without any model; best peer: ${kept.wanted.replace('over ', '')} |`,
  ]
}

/** Whatever trigger the peers were given. */
function costRow(): string {
  const kinds = against(results<CostReport>('cost').compared, 'thrifty')
  const told = kinds.map(({ kind, less }) => `${percent(less, 0)} less (${kind})`)
  return `| the price of the same 33 tasks with \`economy: 'thrifty'\`, beside the best peer that got as much done | ${told.join(', ')} |`
}

function transcriptRows(): readonly string[] {
  const file = results<TranscriptReport>('transcript').files[0]
  const row = (method: string) => file?.rows.find((found) => found.method === method)
  const open = row('open')
  const megabytes = Math.round((file?.bytes ?? 0) / 1e6)
  return [
    `| a session of ${megabytes} MB with 142 compactions: its live window opens | ${Math.round(open?.ratio ?? 0)} times as fast as the file can be parsed, in ${Math.round(open?.peakMegabytes ?? 0)} MB |`,
    `| a full scan of it (records, graph, epochs, salvage) | ${(row('scan')?.ratio ?? 0).toFixed(2)} of the speed of a bare JSON.parse loop |`,
    `| its index | ${(row('index')?.ratio ?? 0).toFixed(1)} times that speed |`,
  ]
}

function tokenRows(): readonly string[] {
  const report = results<TokensReport>('tokens')
  const agent = report.categories.find(({ category }) => category === 'real agent text')?.errors.o200k
  const total = Array.isArray(report.sessions) ? report.sessions.at(-1)?.mean : undefined
  return [
    `| tokens estimated without a tokenizer, on real agent text | ${percent(agent?.fitted.mean ?? Number.NaN)} off on average (length / 4: ${percent(agent?.charsOver4.mean ?? Number.NaN)}) |`,
    `| the next request's size foretold, on real sessions | ${percent(total ?? Number.NaN, 2)} off on average |`,
  ]
}
