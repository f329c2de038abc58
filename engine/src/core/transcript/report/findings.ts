// What is wrong with a transcript, in plain words, and what a repair would do about it. Pure: it reads a scan.
import type { EntryTable } from '../tree/entry-table.ts'
import type { Scan } from '../tree/scan.ts'
import type { Tally } from './tally.ts'

export type Finding = {
  readonly type:
    | 'several-records' // two or more records on one line
    | 'lost-text' // part of a line is no record
    | 'torn' // the last line was cut
    | 'too-long'
    | 'duplicate' // an entry with a uuid that was used before
    | 'ring' // parents that lead back to themselves
    | 'orphan' // a parent that is not in the file: expected after compactions
    | 'unpaired' // tool uses of the live window without a result, or the other way round
  /** Errors are what a repair mends; notes are how such files are. */
  readonly severity: 'error' | 'note'
  readonly line: number | undefined
  readonly text: string
}

type LineTrouble = { readonly line: number; readonly type: Finding['type']; readonly lost: number }

export function findingsOf(
  scan: Pick<Scan, 'table' | 'graph'>,
  lines: readonly LineTrouble[],
  live: Tally,
): readonly Finding[] {
  const { table, graph } = scan
  const line = (row: number) => table.lines[row]
  return [
    ...lines.map(lineFinding),
    ...table.duplicates.map(
      (row) => ({ type: 'duplicate', severity: 'error', line: line(row), text: duplicateText }) as const,
    ),
    ...graph.cuts.map((row) => ({ type: 'ring', severity: 'error', line: line(row), text: ringText }) as const),
    ...graph.orphans.map((row) => {
      const text = orphanText(table, graph.parents[row] ?? -1, row)
      return { type: 'orphan', severity: 'note', line: line(row), text } as const
    }),
    ...unpairedFindings(live),
  ]
}

const duplicateText = 'carries a uuid that was used before; the first one counts'
const ringText = 'is in a ring of parents; the ring is cut here'

function lineFinding({ line, type, lost }: LineTrouble): Finding {
  const texts: Partial<Record<Finding['type'], string>> = {
    'several-records': 'holds more than one record; each is read',
    'lost-text': `holds ${lost} characters that are no whole record`,
    torn: `was cut while it was written: ${lost} characters of a record that never became whole`,
    'too-long': `has ${lost} bytes, more than can be read`,
  }
  return { type, severity: 'error', line, text: texts[type] ?? type }
}

function orphanText(table: EntryTable, parent: number, row: number): string {
  const missing = table.pending.get(row) ?? 'another entry'
  const place = parent < 0 ? 'it becomes a root' : `it is attached to line ${table.lines[parent]}`
  return `hangs on ${missing}, which is not in this file; ${place}`
}

function unpairedFindings({ unpaired }: Tally): readonly Finding[] {
  if (unpaired === 0) return []
  const text = `${unpaired} tool call${unpaired === 1 ? '' : 's'} of the live window without a result (interrupted, or still running)`
  return [{ type: 'unpaired', severity: 'note', line: undefined, text }]
}
