// The index of a transcript, kept in a cache folder beside nobody's files: found again while the transcript is as it
// was, extended when it only grew, rebuilt when it changed. It can always be thrown away.
import { createHash } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isObject, numberAt, stringAt } from '../core/message/json.ts'
import type { Format } from '../core/transcript/formats/reader.ts'
import { type IndexColumns, type RowType, rowTypes, scanIndex, withUnsettledLine } from './index-scan.ts'
import { sniffFormat } from './sniff.ts'
import { readFully } from './tail.ts'
import { createUuidTable } from './uuid-table.ts'

export type IndexRow = {
  readonly row: number
  readonly offset: number
  readonly length: number
  readonly nth: number
  readonly type: RowType
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

/** `EVERLONG_CACHE_DIR`, else the user's cache folder. */
export function indexFolder(): string {
  const own = process.env.EVERLONG_CACHE_DIR
  return join(own ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'everlong'), 'index')
}

export function openIndex(path: string, options: IndexOptions = {}): TranscriptIndex {
  const folder = options.folder ?? indexFolder()
  const place = folder === false ? undefined : join(folder, `${hash(Buffer.from(realpathSync(path)))}.index`)
  const saved = place === undefined ? undefined : load(place)
  const { size, format } = look(path)
  const fits = saved !== undefined && saved.bytes <= size && saved.mark === markAt(path, saved.bytes)
  if (fits && saved.bytes === size) return indexOver(saved, 'cache')
  // Foreign records are converted in order, from the first one on.
  const grows = fits && format === 'claude-code'
  const columns = scanIndex(path, grows ? { format, extend: saved } : { format })
  if (place !== undefined) save(place, columns, markAt(path, columns.bytes))
  const all = columns.bytes < size ? withUnsettledLine(path, columns, format) : columns
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

function indexOver(columns: IndexColumns, source: TranscriptIndex['source']): TranscriptIndex {
  const row = (at: number): IndexRow | undefined => {
    if (at < 0 || at >= columns.rows) return undefined
    const code = columns.types[at] ?? 0
    return {
      row: at,
      offset: columns.offsets[at] ?? 0,
      length: columns.lengths[at] ?? 0,
      nth: columns.nth[at] ?? 0,
      type: rowTypes[code & 127] ?? 'other',
      sidechain: code >= 128,
      parent: columns.parents[at] ?? -1,
      contextTokens: columns.contextTokens[at] ?? 0,
    }
  }
  const boundaries: number[] = []
  const boundary = rowTypes.indexOf('boundary')
  for (let at = 0; at < columns.rows; at++) if (columns.types[at] === boundary) boundaries.push(at)
  return { rows: columns.rows, row, find: (uuid) => row(columns.table.findId(uuid)), boundaries, source }
}

/** A fingerprint of what was indexed: the bytes right before its end, and those of the start. */
function markAt(path: string, end: number): string {
  const file = openSync(path, 'r')
  try {
    if (fstatSync(file).size < end) return 'shorter'
    const tail = Buffer.alloc(Math.min(4096, end))
    readFully(file, tail, end - tail.length)
    const head = Buffer.alloc(Math.min(4096, end))
    readFully(file, head, 0)
    return hash(head, tail)
  } finally {
    closeSync(file)
  }
}

function hash(...parts: readonly Buffer[]): string {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest('hex').slice(0, 32)
}

type Saved = IndexColumns & { readonly mark: string }

/** A header line of JSON, then the columns one after another. */
function save(place: string, columns: IndexColumns, mark: string): void {
  const { rows, table } = columns
  const parts = [
    columns.offsets.subarray(0, rows),
    columns.lengths.subarray(0, rows),
    columns.parents.subarray(0, rows),
    columns.contextTokens.subarray(0, rows),
    columns.outputTokens.subarray(0, rows),
    table.words(),
    columns.nth.subarray(0, rows),
    columns.types.subarray(0, rows),
  ].map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength))
  const header = {
    version,
    mark,
    rows,
    bytes: columns.bytes,
    words: table.words().length,
    others: [...table.others],
    pending: [...columns.pending],
  }
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
  const { others, pending } = header as { others: [string, number][]; pending: [number, string][] }
  return {
    rows,
    bytes: numberAt(header, 'bytes') ?? 0,
    mark: stringAt(header, 'mark') ?? '',
    offsets: new Float64Array(body, take(rows * 8), rows),
    lengths: new Uint32Array(body, take(rows * 4), rows),
    parents: new Int32Array(body, take(rows * 4), rows),
    contextTokens: new Uint32Array(body, take(rows * 4), rows),
    outputTokens: new Uint32Array(body, take(rows * 4), rows),
    table: createUuidTable({ words: new Uint32Array(body, take(words * 4), words), others: new Map(others) }),
    nth: new Uint8Array(body, take(rows), rows),
    types: new Uint8Array(body, take(rows), rows),
    pending: new Map(pending),
  }
}
