// Writes a mended copy of a transcript: one record a line, torn text left out, doubles dropped, rings cut, orphans
// hung on the entry they are read after. The original is never touched; a whole record is copied as it stands.
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { decodeLine } from '../core/transcript/decode.ts'
import type { Scan } from '../core/transcript/scan.ts'
import { forEachLine, type Line } from './lines.ts'
import { type FileScan, scanFile } from './scan-file.ts'

export type RepairReport = {
  readonly records: number
  /** Lines that were not just one record. */
  readonly linesMended: number
  readonly duplicatesDropped: number
  readonly parentsMended: number
}

export type RepairOutcome =
  | ({ readonly type: 'repaired' } & RepairReport)
  | { readonly type: 'refused'; readonly reason: 'exists'; readonly path: string }
  /** Not one record was found in it. */
  | { readonly type: 'refused'; readonly reason: 'no-records'; readonly path: string }

export function repair(from: string, to: string): RepairOutcome {
  const scan = scanFile(from)
  if (scan.records === 0) return { type: 'refused', reason: 'no-records', path: from }
  let file: number
  try {
    file = openSync(to, 'wx', 0o600)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      return { type: 'refused', reason: 'exists', path: to }
    throw error
  }
  try {
    return { type: 'repaired', ...copyMended(scan, from, file) }
  } catch (error) {
    unlinkSync(to) // Half a repair is worse than none.
    throw error
  } finally {
    closeSync(file)
  }
}

function copyMended(scan: FileScan, from: string, file: number): RepairReport {
  const isOurs = scan.format === 'claude-code'
  const dropped = new Set(isOurs ? scan.table.duplicates : [])
  const parents = isOurs ? mendedParents(scan) : new Map<number, string | null>()
  const counts = { records: 0, linesMended: 0 }
  let row = 0
  let pending: string[] = []
  const flush = () => {
    if (pending.length > 0) writeAll(file, pending.join(''))
    pending = []
  }
  forEachLine(from, (line) => {
    const texts = recordTexts(line)
    if (texts.length !== 1) counts.linesMended++
    for (const text of texts) {
      const at = row++
      if (dropped.has(at)) continue
      counts.records++
      pending.push(`${parents.has(at) ? withParent(text, parents.get(at) ?? null) : text}\n`)
    }
    if (pending.length > 512) flush()
  })
  flush()
  return { ...counts, duplicatesDropped: dropped.size, parentsMended: parents.size }
}

/** The text of each whole record on a line. */
function recordTexts({ buffer, start, end }: Line): readonly string[] {
  const text = buffer.toString('utf8', start, end)
  const { records, stretches } = decodeLine(text)
  return stretches.length > 0
    ? stretches.map((at) => text.slice(at.start, at.end))
    : records.length > 0
      ? [text.trim()]
      : []
}

/** New parents for orphans and for the entries at which rings were cut. */
function mendedParents({ table, graph }: Pick<Scan, 'table' | 'graph'>): ReadonlyMap<number, string | null> {
  const mended = new Map<number, string | null>()
  for (const row of [...graph.orphans, ...graph.cuts]) {
    const parent = graph.parents[row] ?? -1
    mended.set(row, parent < 0 ? null : (table.ids.idAt(parent) ?? null))
  }
  return mended
}

/** What the record said before is kept in it, in a field of ours. */
function withParent(text: string, parentUuid: string | null): string {
  const record = JSON.parse(text)
  const everlong = { ...record.everlong, parentUuidBeforeRepair: record.parentUuid }
  return JSON.stringify({ ...record, parentUuid, everlong })
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
}
