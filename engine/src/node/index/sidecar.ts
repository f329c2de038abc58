// The index of a transcript, cached: loaded while the transcript is unchanged, extended when it has grown, rebuilt when
// it was rewritten. Deleting the cache loses nothing.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { contextTokens } from '../../core/message/usage.ts'
import { type Entry, readHead } from '../../core/transcript/format/entry.ts'
import { readAnswerLine } from '../../core/transcript/format/messages.ts'
import { createTranscriptReader, type Format } from '../../core/transcript/format/reader.ts'
import {
  addHead,
  addPlace,
  createEntryTable,
  type EntryPlace,
  type EntryTable,
  isSidechainAt,
  missingParent,
  noParent,
  resolvePending,
  rowOf,
  typeAt,
} from '../../core/transcript/tree/graph.ts'
import { forEachLine, type Line, readLine, sniffFormat } from '../read/entries.ts'
import { replaceFile } from '../write/disk.ts'
import { cacheFolder, cachePlace, markAt } from './cache-place.ts'
import { createRowReader, emptyRow, type Row } from './row.ts'
import { createUuidRows, idOf, type UuidRows } from './uuids.ts'

export type IndexRow = EntryPlace & {
  readonly row: number
  /** Row of the parent; -1 for a root, -2 if the parent is not in the file. */
  readonly parent: number
}

export type TranscriptIndex = {
  readonly rows: number
  readonly row: (row: number) => IndexRow | undefined
  readonly find: (uuid: string) => IndexRow | undefined
  readonly boundaries: readonly number[]
  readonly source: 'cache' | 'extended' | 'scan'
}

const version = 'everlong-index-4'

export function indexFolder(): string {
  return join(cacheFolder(), 'index')
}

/** `folder` is the cache folder; `false` caches nothing. */
export function openIndex(path: string, options: { readonly folder?: string | false } = {}): TranscriptIndex {
  const { folder = indexFolder() } = options
  const place = folder === false ? undefined : cachePlace(folder, path, 'index')
  const saved = place === undefined ? undefined : load(place)
  const { size } = statSync(path)
  const format = sniffFormat(path) ?? 'claude-code'
  const fits = saved !== undefined && saved.bytes <= size && saved.mark === markAt(path, saved.bytes)
  if (fits && saved.bytes === size) return indexOver(saved.table, 'cache')
  // Foreign records are converted in order, starting with the first.
  const grows = fits && format === 'claude-code'
  const indexed = grows ? saved : { table: createEntryTable(createUuidRows()), bytes: 0, lines: 0 }
  const add = lineAdder(indexed.table, format)
  const unfinished = addLines(indexed, path, add)
  resolvePending(indexed.table)
  if (place !== undefined) save(place, path, indexed)
  // Another process may still be writing it, so it is not saved.
  if (unfinished) add(unfinished)
  return indexOver(indexed.table, grows ? 'extended' : 'scan')
}

type IndexTable = EntryTable<UuidRows>

type Indexed = {
  readonly table: IndexTable
  /** The end of the last whole line. */
  bytes: number
  lines: number
}

/** Adds the lines after the indexed ones. Returns the last line if it has no newline. */
function addLines(indexed: Indexed, path: string, add: (line: Line) => void): Line | undefined {
  let unfinished: Line | undefined
  forEachLine(
    path,
    (line) => {
      if (!line.ended) {
        unfinished = line
        return
      }
      add(line)
      indexed.bytes = line.offset + (line.end - line.start) + 1
      indexed.lines = line.number
    },
    { from: indexed.bytes, linesBefore: indexed.lines },
  )
  return unfinished
}

function lineAdder(table: IndexTable, format: Format): (line: Line) => void {
  const row = emptyRow()
  const readRow = createRowReader()
  const addIndexed = rowAdder(table)
  const sink = {
    reader: createTranscriptReader(),
    visit: (entry: Entry) => {
      const answer = readAnswerLine(entry.record)
      addHead(table, readHead(entry), answer ? contextTokens(answer.usage) : 0)
    },
  }
  return (line) => {
    const isRead = format === 'claude-code' && line.ended && readRow(line.buffer, line.start, line.end, row)
    if (isRead) addIndexed(line, row)
    else readLine(line, sink)
  }
}

/** Like `addHead`, but without creating strings for ids. */
function rowAdder(table: IndexTable): (line: Line, row: Row) => void {
  const { ids } = table
  let last = noParent
  return (line, { uuid, parent, parentIs, type, sidechain, contextTokens }) => {
    const { offset, start, end, number } = line
    const at = addPlace(table, { offset, length: end - start, line: number, nth: 0, type, sidechain, contextTokens })
    if (type === '') return
    const before = last
    last = at
    if (!ids.add(uuid, at)) {
      last = ids.find(uuid)
      table.duplicates.push(at)
    }
    if (parentIs === 'none') return
    const found = parentIs === 'last' ? before : ids.find(parent)
    table.parents[at] = found < 0 ? missingParent : found
    if (found < 0) table.pending.set(at, idOf(parent))
  }
}

function indexOver(table: IndexTable, source: TranscriptIndex['source']): TranscriptIndex {
  const row = (at: number): IndexRow | undefined => {
    if (at < 0 || at >= table.rows) return undefined
    return {
      row: at,
      offset: table.offsets[at] ?? 0,
      length: table.lengths[at] ?? 0,
      line: table.lines[at] ?? 0,
      nth: table.nth[at] ?? 0,
      type: typeAt(table, at),
      sidechain: isSidechainAt(table, at),
      parent: table.parents[at] ?? noParent,
      contextTokens: table.contextTokens[at] ?? 0,
    }
  }
  const boundaries = table.types.flatMap((type, at) => (type === 'boundary' ? [at] : []))
  return { rows: table.rows, row, find: (uuid) => row(rowOf(table, uuid)), boundaries, source }
}

function save(place: string, path: string, indexed: Indexed): void {
  const { table, bytes, lines } = indexed
  const ids = table.ids.packed()
  const saved = serialize({ bytes, lines, table: { ...table, ids }, mark: markAt(path, bytes) })
  try {
    replaceFile(place, Buffer.concat([Buffer.from(version), saved]), { flush: false })
  } catch (error) {
    // A cache that cannot be written (full disk, read-only home) costs time, not results.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

function load(place: string): (Indexed & { readonly mark: string }) | undefined {
  try {
    const file = readFileSync(place)
    if (file.toString('utf8', 0, version.length) !== version) return undefined
    const { table, ...saved } = deserialize(file.subarray(version.length))
    return { ...saved, table: { ...table, ids: createUuidRows(table.ids) } }
  } catch {
    return undefined // Missing or damaged: it is rebuilt.
  }
}
