// The index of a transcript, cached: loaded while the transcript is unchanged, extended when it has grown, rebuilt when
// it was rewritten. Deleting the cache loses nothing.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import {
  type EntryTable,
  type EntryType,
  isSidechainAt,
  noParent,
  type Place,
  typeAt,
} from '../../core/transcript/tree/entry-table.ts'
import { createIdTable } from '../../core/transcript/tree/id-table.ts'
import { sniffFormat } from '../read/entries.ts'
import { replaceFile } from '../write/whole-file.ts'
import { cacheFolder, cachePlace, markAt } from './cache-place.ts'
import { type Indexed, scanIndex, withUnfinishedLine } from './scan.ts'

export type IndexRow = Place & {
  readonly row: number
  readonly type: EntryType
  readonly sidechain: boolean
  /** Row of the parent; -1 for a root, -2 if the parent is not in the file. */
  readonly parent: number
  readonly contextTokens: number
}

export type TranscriptIndex = {
  readonly rows: number
  readonly row: (row: number) => IndexRow | undefined
  readonly find: (uuid: string) => IndexRow | undefined
  /** Rows of the compact boundaries, in file order. */
  readonly boundaries: readonly number[]
  readonly source: 'cache' | 'extended' | 'scan'
}

export type IndexOptions = {
  /** The cache folder; `false` caches nothing. */
  readonly folder?: string | false
}

const version = 'everlong-index-3'

export function indexFolder(): string {
  return join(cacheFolder(), 'index')
}

export function openIndex(path: string, options: IndexOptions = {}): TranscriptIndex {
  const folder = options.folder ?? indexFolder()
  const place = folder === false ? undefined : cachePlace(folder, path, 'index')
  const saved = place === undefined ? undefined : load(place)
  const { size } = statSync(path)
  const format = sniffFormat(path) ?? 'claude-code'
  const fits = saved !== undefined && saved.bytes <= size && saved.mark === markAt(path, saved.bytes)
  if (fits && saved.bytes === size) return indexOver(saved.table, 'cache')
  // Foreign records are converted in order, starting with the first.
  const grows = fits && format === 'claude-code'
  const indexed = scanIndex(path, grows ? { format, extend: saved } : { format })
  if (place !== undefined) save(place, indexed, markAt(path, indexed.bytes))
  const all = indexed.bytes < size ? withUnfinishedLine(path, indexed, format) : indexed.table
  return indexOver(all, grows ? 'extended' : 'scan')
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

const columns = ['offsets', 'lengths', 'lines', 'parents', 'contextTokens', 'nth', 'types'] as const

function save(place: string, { table, bytes, lines }: Indexed, mark: string): void {
  const { rows, ids, pending, duplicates } = table
  const trimmed = Object.fromEntries(columns.map((name) => [name, table[name].subarray(0, rows)]))
  const savedIds = { words: ids.words(), others: ids.others }
  const saved = serialize({ mark, bytes, lines, ids: savedIds, table: { rows, pending, duplicates, ...trimmed } })
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
    const { ids, table, ...rest } = deserialize(file.subarray(version.length))
    if (columns.some((name) => table[name].length !== table.rows)) return undefined
    return { ...rest, table: { ...table, ids: createIdTable({ saved: ids }) } }
  } catch {
    return undefined // Missing or damaged: it is rebuilt.
  }
}
