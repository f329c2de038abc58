// Writes a repaired copy of a transcript: one record per line, without torn text and duplicates, cycles cut, orphans
// attached to the entry before them. The original is never touched, and whole records are copied as they are.
import { decodeLine } from '../../core/transcript/format/decode.ts'
import type { Scan } from '../../core/transcript/tree/scan.ts'
import { type FileScan, scanFile } from '../read/entries.ts'
import { forEachLine, type Line } from '../read/lines.ts'
import { type Exists, writeNewFile } from './new-transcript.ts'

export type RepairReport = {
  readonly records: number
  /** Lines that were not exactly one record. */
  readonly linesMended: number
  readonly duplicatesDropped: number
  readonly parentsMended: number
}

export type RepairOutcome =
  | ({ readonly type: 'repaired' } & RepairReport)
  | Exists
  | { readonly type: 'refused'; readonly reason: 'no-records'; readonly path: string }

export function repair(from: string, to: string): RepairOutcome {
  const scan = scanFile(from)
  if (scan.records === 0) return { type: 'refused', reason: 'no-records', path: from }
  let report: RepairReport = { records: 0, linesMended: 0, duplicatesDropped: 0, parentsMended: 0 }
  const exists = writeNewFile(to, (write) => {
    report = copyRepaired(scan, from, write)
  })
  return exists ?? { type: 'repaired', ...report }
}

function copyRepaired(scan: FileScan, from: string, write: (text: string) => void): RepairReport {
  const isOurs = scan.format === 'claude-code'
  const dropped = new Set(isOurs ? scan.table.duplicates : [])
  const parents = isOurs ? repairedParents(scan) : new Map<number, string | null>()
  const counts = { records: 0, linesMended: 0 }
  let row = 0
  forEachLine(from, (line) => {
    const texts = recordTexts(line)
    if (texts.length !== 1) counts.linesMended++
    for (const text of texts) {
      const at = row++
      if (dropped.has(at)) continue
      counts.records++
      write(`${parents.has(at) ? withParent(text, parents.get(at) ?? null) : text}\n`)
    }
  })
  return { ...counts, duplicatesDropped: dropped.size, parentsMended: parents.size }
}

function recordTexts({ buffer, start, end }: Line): readonly string[] {
  const text = buffer.toString('utf8', start, end)
  const { records, stretches } = decodeLine(text)
  return stretches.length > 0
    ? stretches.map((at) => text.slice(at.start, at.end))
    : records.length > 0
      ? [text.trim()]
      : []
}

/** New parents for orphans and for the entries at which cycles were cut. */
function repairedParents({ table, graph }: Pick<Scan, 'table' | 'graph'>): ReadonlyMap<number, string | null> {
  const parents = new Map<number, string | null>()
  const uuids = new Map([...table.ids].map(([uuid, row]) => [row, uuid]))
  for (const row of [...graph.orphans, ...graph.cuts]) {
    const parent = graph.parents[row] ?? -1
    parents.set(row, uuids.get(parent) ?? null)
  }
  return parents
}

/** Keeps the old parent in a field of ours. */
function withParent(text: string, parentUuid: string | null): string {
  const record = JSON.parse(text)
  const everlong = { ...record.everlong, parentUuidBeforeRepair: record.parentUuid }
  return JSON.stringify({ ...record, parentUuid, everlong })
}
