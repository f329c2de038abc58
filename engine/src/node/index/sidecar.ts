// The index of a transcript, kept in a cache folder beside nobody's files: found again while the transcript is as it
// was, extended when it only grew, rebuilt when it changed. It can always be thrown away.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type EntryTable,
  type EntryType,
  isSidechainAt,
  noParent,
  type Place,
  typeAt,
} from '../../core/transcript/tree/entry-table.ts'
import { sniffFormat } from '../read/entries.ts'
import { replaceFile } from '../write/whole-file.ts'
import { decodeIndexed, encodeIndexed } from './bytes.ts'
import { cacheFolder, cachePlace, markAt } from './cache-place.ts'
import { type Indexed, scanIndex, withUnsettledLine } from './scan.ts'

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

const version = 'everlong-index-2'

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
  // Foreign records are converted in order, from the first one on.
  const grows = fits && format === 'claude-code'
  const indexed = scanIndex(path, grows ? { format, extend: saved } : { format })
  if (place !== undefined) save(place, indexed, markAt(path, indexed.bytes))
  const all = indexed.bytes < size ? withUnsettledLine(path, indexed, format) : indexed.table
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

type Saved = Indexed & { readonly mark: string }

function save(place: string, indexed: Indexed, mark: string): void {
  try {
    const bytes = Buffer.concat([Buffer.from(`${version} ${mark}\n`), encodeIndexed(indexed)])
    replaceFile(place, bytes, { flush: false })
  } catch (error) {
    // A cache that cannot be written (a full disk, a read-only home) costs time, not answers.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

function load(place: string): Saved | undefined {
  try {
    const bytes = readFileSync(place)
    const newline = bytes.indexOf(10)
    const [found, mark = ''] = bytes.toString('utf8', 0, Math.min(newline, 100)).split(' ')
    if (found !== version) return undefined
    const indexed = decodeIndexed(bytes.subarray(newline + 1))
    return indexed && { ...indexed, mark }
  } catch {
    return undefined // Not there, or not an index: it is made anew.
  }
}
