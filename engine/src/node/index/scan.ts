// Builds the entry table of a transcript without decoding most lines: their first and last bytes are enough.
import { statSync } from 'node:fs'
import { readAnswerLine } from '../../core/transcript/format/answers.ts'
import { type Entry, headOf } from '../../core/transcript/format/entry.ts'
import { createTranscriptReader, type Format } from '../../core/transcript/format/foreign/reader.ts'
import {
  addHead,
  addPlace,
  createEntryTable,
  type EntryTable,
  type GrowingTable,
  missingParent,
  noParent,
  resolvePending,
  setType,
  sideEntry,
} from '../../core/transcript/tree/entry-table.ts'
import { idOf } from '../../core/transcript/tree/id-table.ts'
import { readLine } from '../read/entries.ts'
import { expectedEntries, forEachLine, type Line, type LineOptions } from '../read/lines.ts'
import { createRowReader, emptyRow, type Row } from './row.ts'

export type Indexed = {
  readonly table: EntryTable
  /** The end of the last whole line. */
  readonly bytes: number
  readonly lines: number
}

export type IndexScanOptions = LineOptions & {
  readonly format: Format
  /** An older index of the same file: only what was appended since is read. */
  readonly extend?: Indexed
}

export function scanIndex(path: string, options: IndexScanOptions): Indexed {
  const { size } = statSync(path)
  const table = createEntryTable(options.extend ? { saved: options.extend.table } : { expected: expectedEntries(size) })
  const add = lineAdder(table, options.format)
  let { bytes, lines } = options.extend ?? { bytes: 0, lines: 0 }
  forEachLine(
    path,
    (line) => {
      // Somebody may still be writing a last line without a newline: it is read again next time.
      if (!line.ended) return
      add(line)
      bytes = line.offset + (line.end - line.start) + 1
      lines = line.number
    },
    { ...options, from: bytes, linesBefore: lines },
  )
  resolvePending(table)
  return { table, bytes, lines }
}

/** Includes a last line without a newline. Such a table must not be saved or extended. */
export function withUnfinishedLine(path: string, settled: Indexed, format: Format): EntryTable {
  const table = createEntryTable({ saved: settled.table })
  forEachLine(path, lineAdder(table, format), { from: settled.bytes, linesBefore: settled.lines })
  return table
}

function lineAdder(table: GrowingTable, format: Format): (line: Line) => void {
  const row = emptyRow()
  const readRow = createRowReader()
  const addRow = rowAdder(table)
  const sink = {
    reader: createTranscriptReader(),
    visit: (entry: Entry) => addHead(table, headOf(entry), readAnswerLine(entry.record)?.usage),
    problems: [],
  }
  const isOurs = format === 'claude-code'
  return (line) => {
    if (isOurs && line.ended && readRow(line.buffer, line.start, line.end, row)) addRow(line, row)
    else readLine(line, sink)
  }
}

function rowAdder(table: GrowingTable): (line: Line, row: Row) => void {
  const { ids } = table
  let last = noParent
  return (line, row) => {
    const at = addPlace(table, { offset: line.offset, length: line.end - line.start, line: line.number, nth: 0 })
    setType(table, at, { code: row.type, sidechain: row.sidechain })
    if (row.type === sideEntry) return
    table.contextTokens[at] = row.contextTokens
    const before = last
    last = at
    if (!ids.add(row.uuid, at)) {
      last = ids.find(row.uuid)
      table.duplicates.push(at)
    }
    if (row.parentIs === 'none') return
    const parent = row.parentIs === 'last' ? before : ids.find(row.parent)
    table.parents[at] = parent < 0 ? missingParent : parent
    if (parent < 0) table.pending.set(at, idOf(row.parent))
  }
}
