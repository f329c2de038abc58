// `npm run bench -- ledger [--transcripts DIR] [--show NAME]`: the table of measure.ts over a folder of transcripts, or
// the rendered ledger of one compaction, to be read.
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { renderLedger } from 'everlong'
import { findTranscripts } from 'everlong/node'
import { transcriptFolder } from '../root.ts'
import { casesOf } from './cases.ts'
import { budgets, countTokens, ledgerOf, type Measured, measure } from './measure.ts'

export function run(): void {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { transcripts: { type: 'string' }, show: { type: 'string' }, budget: { type: 'string', default: '4000' } },
  })
  const folder = values.transcripts ?? transcriptFolder()
  if (folder === undefined) {
    console.error('No transcripts: give a folder with --transcripts DIR.')
    process.exitCode = 2
    return
  }
  const cases = findTranscripts([folder]).files.flatMap((path) => casesOf(path, basename(path).slice(0, 12)))
  if (values.show !== undefined) {
    for (const found of cases.filter(({ name }) => name === values.show)) {
      console.log(renderLedger(ledgerOf(found), { budget: Number(values.budget), countTokens }))
    }
    return
  }
  const rows = cases.filter(({ written }) => written !== '').map(measure)
  // With a handful of atoms a share says nothing, and without a recorded context there is nothing to compare with.
  print(rows.filter(({ needed, recorded }) => needed >= 10 && recorded.tokens >= 500))
}

function print(rows: readonly Measured[]): void {
  const wide = (text: string | number) => String(text).padStart(8)
  const share = (value: number) => wide(value.toFixed(2))
  const heads = [
    'needed',
    'recorded',
    'recall',
    'human',
    ...budgets.map((b) => `${b / 1000}k`),
    ...budgets.map((b) => `h+${b / 1000}k`),
    'half',
    'whole',
  ]
  console.log(''.padEnd(16) + heads.map(wide).join(''))
  const line = (name: string, row: Omit<Measured, 'name'>) =>
    console.log(
      name.padEnd(16) +
        [row.needed, row.recorded.tokens].map(wide).join('') +
        share(row.recorded.recall) +
        wide(row.humanTokens) +
        [...row.alone, ...row.beside, row.half, row.whole].map(share).join(''),
    )
  for (const row of rows) line(row.name, row)
  const mean = (of: (row: Measured) => number) => rows.reduce((sum, row) => sum + of(row), 0) / rows.length
  line('mean', {
    needed: Math.round(mean((row) => row.needed)),
    recorded: { tokens: Math.round(mean((row) => row.recorded.tokens)), recall: mean((row) => row.recorded.recall) },
    humanTokens: Math.round(mean((row) => row.humanTokens)),
    alone: budgets.map((_, index) => mean((row) => row.alone[index] ?? 0)),
    beside: budgets.map((_, index) => mean((row) => row.beside[index] ?? 0)),
    half: mean((row) => row.half),
    whole: mean((row) => row.whole),
  })
}
