// `npm run bench -- docs`: writes the figures of the checked-in results into the README and the documentation, between two
// marks. A test compares them, so nobody types a figure.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readFigures as results, type Target } from './benchmark.ts'
import { type BuiltInsReport, limitTables } from './built-ins/page.ts'
import { type EconomyReport, lessThanPeer, measure, nameOf } from './economy/run.ts'
import { type GatewayReport, scaleTables } from './gateway/run.ts'
import type { HandoverFigures, Row } from './handover/rows.ts'
import { root } from './root.ts'
import type { TokensReport } from './tokens/page.ts'
import type { TranscriptReport } from './transcript/run.ts'
import { type ViewerReport, viewerFigures } from './viewer/page.ts'

const start = '<!-- figures: npm run bench -- docs -->'
const end = '<!-- end of figures -->'

/** Pages with figures, by their path. */
export const pages: Readonly<Record<string, () => string>> = {
  'README.md': mainFigures,
  'docs/viewer.md': () => viewerFigures(results<ViewerReport>('viewer')),
  'docs/built-ins.md': () => limitTables(results<BuiltInsReport>('built-ins')),
  'docs/gateway-scale.md': () => scaleTables(results<GatewayReport>('gateway')),
}

export function run(): void {
  for (const path of Object.keys(pages)) writeFileSync(join(root, path), withFigures(path))
}

export function withFigures(path: string): string {
  const text = readFileSync(join(root, path), 'utf8')
  const [from, to] = [text.indexOf(start), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${path} has lost its marks: put ${start} and ${end} around the figures.`)
  return `${text.slice(0, from + start.length)}\n\n${pages[path]?.()}\n\n${text.slice(to)}`
}

function mainFigures(): string {
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

const percent = (share: number, digits = 1) => `${(100 * share).toFixed(digits)} %`

/** Questions about recorded compactions, graded by code. */
function handoverRow(): string {
  const { cases } = results<HandoverFigures>('handover')
  const score = (contender: string, at: Row['at']) => {
    const rows = cases.flatMap((found) => found.rows.filter((row) => row.contender === contender && row.at === at))
    return percent(rows.reduce((sum, row) => sum + row.score, 0) / rows.length, 0)
  }
  const questions = cases.reduce((sum, { probes }) => sum + probes, 0)
  return `| questions about the work that the next agent can answer from its context (${questions}, after ${cases.length} recorded compactions) | ${score('ours, model summary', 'default')} with a strong model's summary, ${score('ours, offline', 'default')} without a model; from the context that the recorded client left: ${score('recorded', 'as it is')} |`
}

/** The target names the best peer's figure. */
function roundsRows(): readonly string[] {
  const { targets } = results<{ readonly targets: readonly Target[] }>('rounds')
  const kept = targets.find(({ what }) => what === 'Everlong, without a model: more in the context than the best peer')
  if (!kept) throw new Error('bench/results/rounds.json does not say what is left: run npm run bench -- rounds.')
  return [
    `| of 200 facts told once each in 2,000 turns, in the context at the end, some twenty compactions later | ${kept.measured} without any model; best peer: ${kept.wanted.replace('over ', '')} |`,
  ]
}

/** The defaults first. */
function costRow(): string {
  const { ran } = results<EconomyReport>('economy')
  const told = lessThanPeer(ran, 'Everlong: the defaults').map(([kind, less]) => `${percent(less, 0)} less (${kind})`)
  const doneBy = (who: string) => {
    const own = ran.filter((row) => nameOf(row) === who)
    const sum = (value: (row: (typeof own)[number]) => number) => own.reduce((total, row) => total + value(row), 0)
    return `${sum(({ outcome }) => outcome.done)} of ${sum(({ setup }) => setup.tasks)}`
  }
  return `| the price of the same 33 tasks with the defaults, next to \`pruneMessages\` of the AI SDK at 50,000 tokens | ${told.join(', ')}; tasks done: ${doneBy('Everlong: the defaults')}, its: ${doneBy(measure)} |`
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
