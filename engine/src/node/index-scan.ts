// The index of a transcript: for each record where it lies, its ids, type and usage, in columns. Built several times
// faster than by decoding, since most lines show all this in their first and last bytes.

import { objectAt } from '../core/message/json.ts'
import { contextTokens, readUsage } from '../core/message/usage.ts'
import { type Entry, headOf } from '../core/transcript/entry.ts'
import { createTranscriptReader, type Format } from '../core/transcript/formats/reader.ts'
import { readLine } from './entries.ts'
import { emptyRow, type Row, readRow } from './index-row.ts'
import { forEachLine, type Line, type LineOptions } from './lines.ts'
import { createUuidTable, readId, type UuidTable } from './uuid-table.ts'

export const rowTypes = ['', 'user', 'assistant', 'system', 'attachment', 'progress', 'boundary', 'other'] as const
export type RowType = (typeof rowTypes)[number]

/** No parent: a root, or a parent that is not in the file. */
export const noParent = -1
export const missingParent = -2

export type IndexColumns = {
  readonly rows: number
  readonly offsets: Float64Array
  readonly lengths: Uint32Array
  /** Which record of its line. */
  readonly nth: Uint8Array
  /** Index into rowTypes; 128 is added for a sidechain. */
  readonly types: Uint8Array
  readonly parents: Int32Array
  readonly contextTokens: Uint32Array
  readonly outputTokens: Uint32Array
  readonly table: UuidTable
  /** Parents not found yet: they may come later in the file, or never. */
  readonly pending: ReadonlyMap<number, string>
  readonly bytes: number
}

type Growing = { -readonly [K in keyof IndexColumns]: IndexColumns[K] } & { readonly pending: Map<number, string> }

export type IndexScanOptions = LineOptions & {
  readonly format: Format
  /** What was indexed before, of the same file: only what came behind it is read. */
  readonly extend?: IndexColumns
}

export function scanIndex(path: string, options: IndexScanOptions): IndexColumns {
  const extend = options.extend
  const columns: Growing = extend ? { ...extend, pending: new Map(extend.pending) } : emptyColumns()
  const add = lineAdder(columns, options.format)
  forEachLine(
    path,
    (line) => {
      // A last line without its newline may still be being written: it is not settled, and read again next time.
      if (!line.ended) return
      add(line)
      columns.bytes = line.offset + (line.end - line.start) + 1
    },
    { ...options, from: columns.bytes },
  )
  resolvePending(columns)
  return columns
}

/** With the record that may stand in a last line without a newline. Such columns must not be saved or extended. */
export function withUnsettledLine(path: string, settled: IndexColumns, format: Format): IndexColumns {
  const columns: Growing = { ...settled, pending: new Map(settled.pending) }
  forEachLine(path, lineAdder(columns, format), { from: settled.bytes })
  return columns
}

function lineAdder(columns: Growing, format: Format): (line: Line) => void {
  const row = emptyRow()
  const sink = {
    reader: createTranscriptReader(),
    visit: (entry: Entry) => addEntry(columns, entry),
    problems: [],
  }
  const isOurs = format === 'claude-code'
  return (line) => {
    if (isOurs && line.end > line.start && readRow(line.buffer, line.start, line.end, row)) addRow(columns, line, row)
    else readLine(line, sink)
  }
}

function addRow(columns: Growing, line: Line, row: Row): void {
  const at = push(columns, { offset: line.offset, length: line.end - line.start, nth: 0 })
  columns.types[at] = codeOf(row.type) + (row.sidechain ? 128 : 0)
  columns.contextTokens[at] = row.contextTokens
  columns.outputTokens[at] = row.outputTokens
  if (row.type === '') return
  columns.table.add(row.uuid, at)
  if (!row.hasParent) return
  const parent = columns.table.find(row.parent)
  columns.parents[at] = parent < 0 ? missingParent : parent
  if (parent < 0) columns.pending.set(at, idOf(row.parent))
}

/** The exact way, for lines that do not look as Claude Code writes them. */
function addEntry(columns: Growing, entry: Entry): void {
  const head = headOf(entry)
  const at = push(columns, entry.position)
  const type = head.boundary ? 'boundary' : head.uuid === undefined ? '' : head.type
  columns.types[at] = codeOf(type) + (head.sidechain ? 128 : 0)
  const usage = head.type === 'assistant' ? readUsage(objectAt(entry.record, 'message')?.usage) : undefined
  columns.contextTokens[at] = usage ? contextTokens(usage) : 0
  columns.outputTokens[at] = usage?.output ?? 0
  if (head.uuid === undefined) return
  const words = new Uint32Array(4)
  if (head.uuid.length === 36 && readId(Buffer.from(head.uuid, 'latin1'), 0, words)) columns.table.add(words, at)
  else columns.table.addOther(head.uuid, at)
  if (typeof head.parent !== 'string') return
  const parent = columns.table.findId(head.parent)
  columns.parents[at] = parent < 0 ? missingParent : parent
  if (parent < 0) columns.pending.set(at, head.parent)
}

function codeOf(type: string): number {
  const code = rowTypes.indexOf(type as RowType)
  return code < 0 ? rowTypes.indexOf('other') : code
}

function idOf(words: Uint32Array): string {
  const hex = [...words].map((word) => word.toString(16).padStart(8, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function resolvePending(columns: Growing): void {
  for (const [at, id] of columns.pending) {
    const parent = columns.table.findId(id)
    if (parent < 0) continue
    columns.parents[at] = parent
    columns.pending.delete(at)
  }
}

function emptyColumns(): Growing {
  return { ...sized(1024), rows: 0, table: createUuidTable(), pending: new Map(), bytes: 0 }
}

function sized(
  capacity: number,
): Pick<Growing, 'offsets' | 'lengths' | 'nth' | 'types' | 'parents' | 'contextTokens' | 'outputTokens'> {
  return {
    offsets: new Float64Array(capacity),
    lengths: new Uint32Array(capacity),
    nth: new Uint8Array(capacity),
    types: new Uint8Array(capacity),
    parents: new Int32Array(capacity),
    contextTokens: new Uint32Array(capacity),
    outputTokens: new Uint32Array(capacity),
  }
}

function push(
  columns: Growing,
  place: { readonly offset: number; readonly length: number; readonly nth: number },
): number {
  const at = columns.rows++
  if (at >= columns.offsets.length) grow(columns)
  columns.offsets[at] = place.offset
  columns.lengths[at] = place.length
  columns.nth[at] = place.nth
  columns.parents[at] = noParent
  return at
}

function grow(columns: Growing): void {
  const larger = sized(Math.max(1024, columns.offsets.length * 2))
  larger.offsets.set(columns.offsets)
  larger.lengths.set(columns.lengths)
  larger.nth.set(columns.nth)
  larger.types.set(columns.types)
  larger.parents.set(columns.parents)
  larger.contextTokens.set(columns.contextTokens)
  larger.outputTokens.set(columns.outputTokens)
  Object.assign(columns, larger)
}
