// The index of a transcript, kept in a cache folder beside nobody's files: found again while the transcript is as it
// was, extended when it only grew, rebuilt when it changed. It can always be thrown away.
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject, numberAt } from '../core/message/json.ts'
import {
  type EntryTable,
  type EntryType,
  isSidechainAt,
  noParent,
  type Place,
  typeAt,
} from '../core/transcript/entry-table.ts'
import type { Format } from '../core/transcript/formats/reader.ts'
import { createIdTable } from '../core/transcript/id-table.ts'
import { cacheFolder, cachePlace, markAt } from './cache-place.ts'
import { type Indexed, scanIndex, withUnsettledLine } from './index-scan.ts'
import { sniffFormat } from './sniff.ts'

export type IndexRow = Place & {
  readonly row: number
  readonly type: EntryType
  readonly sidechain: boolean
  /** Row of the parent; -1 for a root, -2 when the parent is not in the file. */
  readonly parent: number
  readonly contextTokens: number
}

export type TranscriptIndex = {
  readonly rows: number
  readonly row: (row: number) => IndexRow | undefined
  readonly find: (uuid: string) => IndexRow | undefined
  /** The rows of the compact boundaries, in file order. */
  readonly boundaries: readonly number[]
  /** Whether it was found in the cache, extended from there, or made anew. */
  readonly source: 'cache' | 'extended' | 'scan'
}

export type IndexOptions = {
  /** Where indexes are kept; `false` keeps none. */
  readonly folder?: string | false
}

const version = 1

export function indexFolder(): string {
  return join(cacheFolder(), 'index')
}

export function openIndex(path: string, options: IndexOptions = {}): TranscriptIndex {
  const folder = options.folder ?? indexFolder()
  const place = folder === false ? undefined : cachePlace(folder, path, 'index')
  const saved = place === undefined ? undefined : load(place)
  const { size, format } = look(path)
  const fits = saved !== undefined && saved.bytes <= size && saved.mark === markAt(path, saved.bytes)
  if (fits && saved.bytes === size) return indexOver(saved.table, 'cache')
  // Foreign records are converted in order, from the first one on.
  const grows = fits && format === 'claude-code'
  const indexed = scanIndex(path, grows ? { format, extend: saved } : { format })
  if (place !== undefined) save(place, indexed, markAt(path, indexed.bytes))
  const all = indexed.bytes < size ? withUnsettledLine(path, indexed, format) : indexed.table
  return indexOver(all, grows ? 'extended' : 'scan')
}

function look(path: string): { readonly size: number; readonly format: Format } {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    return { size, format: sniffFormat(file, size) }
  } finally {
    closeSync(file)
  }
}

function indexOver(table: EntryTable, source: TranscriptIndex['source']): TranscriptIndex {
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
  const boundaries: number[] = []
  for (let at = 0; at < table.rows; at++) if (typeAt(table, at) === 'boundary') boundaries.push(at)
  return { rows: table.rows, row, find: (uuid) => row(table.ids.findId(uuid)), boundaries, source }
}

type Saved = Indexed & { readonly mark: string }

/** A header line of JSON, then the columns one after another. */
function save(place: string, { table, bytes, lines }: Indexed, mark: string): void {
  const { rows, ids } = table
  const parts = [
    table.offsets.subarray(0, rows),
    table.lengths.subarray(0, rows),
    table.lines.subarray(0, rows),
    table.parents.subarray(0, rows),
    table.contextTokens.subarray(0, rows),
    ids.words(),
    table.nth.subarray(0, rows),
    table.types.subarray(0, rows),
  ].map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength))
  const lists = { others: [...ids.others], pending: [...table.pending], duplicates: table.duplicates }
  const header = { version, mark, rows, bytes, lines, words: ids.words().length, ...lists }
  try {
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
    const fresh = `${place}.${process.pid}`
    writeFileSync(fresh, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...parts]), { mode: 0o600 })
    renameSync(fresh, place)
  } catch (error) {
    // A cache that cannot be written (a full disk, a read-only home) costs time, not answers.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

function load(place: string): Saved | undefined {
  try {
    const bytes = readFileSync(place)
    const newline = bytes.indexOf(10)
    const header: unknown = JSON.parse(bytes.toString('utf8', 0, newline))
    if (!isObject(header) || header.version !== version) return undefined
    return readColumns(header, bytes.subarray(newline + 1))
  } catch {
    return undefined // Not there, or not an index: it is made anew.
  }
}

function readColumns(header: object, data: Buffer): Saved | undefined {
  const rows = numberAt(header, 'rows') ?? 0
  const words = numberAt(header, 'words') ?? 0
  if (data.length !== rows * 26 + words * 4) return undefined
  // Copied, so that every column is aligned.
  const body = data.buffer.slice(data.byteOffset, data.byteOffset + data.length) as ArrayBuffer
  let at = 0
  const take = (bytes: number) => {
    at += bytes
    return at - bytes
  }
  const lists = header as { others: [string, number][]; pending: [number, string][]; duplicates: number[] }
  const table: EntryTable = {
    rows,
    offsets: new Float64Array(body, take(rows * 8), rows),
    lengths: new Uint32Array(body, take(rows * 4), rows),
    lines: new Uint32Array(body, take(rows * 4), rows),
    parents: new Int32Array(body, take(rows * 4), rows),
    contextTokens: new Uint32Array(body, take(rows * 4), rows),
    ids: createIdTable({ words: new Uint32Array(body, take(words * 4), words), others: new Map(lists.others) }),
    nth: new Uint8Array(body, take(rows), rows),
    types: new Uint8Array(body, take(rows), rows),
    pending: new Map(lists.pending),
    duplicates: lists.duplicates,
  }
  const { bytes, lines, mark } = { bytes: 0, lines: 0, mark: '', ...header }
  return { table, bytes, lines, mark }
}
