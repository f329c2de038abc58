// Real transcripts, if this machine has any. Tests that use them are skipped otherwise.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tally } from '../../core/transcript/report/findings.ts'

const root = join(import.meta.dirname, '../../../..')
const data = process.env.EVERLONG_DATA ?? join(root, '../shared/data')

export const transcripts = join(data, 'transcripts')
export const hasTranscripts = existsSync(join(transcripts, 'MANIFEST.md'))

export type OracleRow = Tally & {
  readonly file: string
  readonly boundaries: number
  readonly stop: string
  readonly salvaged: number
}

/** The manifest's "Oracle" table: numbers found without our reader. */
export function oracle(): readonly OracleRow[] {
  if (!hasTranscripts) return []
  const text = readFileSync(join(transcripts, 'MANIFEST.md'), 'utf8')
  const table = text.slice(text.indexOf('## Oracle'), text.indexOf('## Other formats'))
  return table
    .split('\n')
    .filter((line) => /^\| \d/.test(line))
    .map((line) => {
      const cells = line.split('|').map((cell) => cell.trim())
      const n = (at: number) => Number(cells[at])
      return {
        file: cells[1] ?? '',
        boundaries: n(2),
        stop: cells[3] ?? '',
        entries: n(4),
        assistantLines: n(5),
        userLines: n(6),
        messages: n(7),
        toolUses: n(8),
        toolResults: n(9),
        unpaired: n(11),
        salvaged: n(12),
      }
    })
}

/** The "orph" column of the manifest's "Measured" table, by file. */
export function measuredOrphans(): ReadonlyMap<string, number> {
  const text = readFileSync(join(transcripts, 'MANIFEST.md'), 'utf8')
  const rows = text.slice(text.indexOf('## Measured'), text.indexOf('## Oracle')).split('\n')
  const names = (rows.find((row) => row.startsWith('| file')) ?? '').split('|').map((cell) => cell.trim())
  const column = names.indexOf('orph')
  return new Map(
    rows
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map((cells) => [cells[1] ?? '', Number(cells[column])]),
  )
}
