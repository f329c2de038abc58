// Reports the damage of a transcript, and writes a repaired copy: one record per line, no torn text or duplicates, cycles cut,
// orphans attached to the entry before them. The original never changes, and whole records are copied unchanged.
import { decodeLine } from '../../core/transcript/format/decode.ts'
import { type Finding, findingsOf, type Tally, tallyOf } from '../../core/transcript/report/findings.ts'
import { isTranscript, type Scan } from '../../core/transcript/tree/scan.ts'
import { forEachLine, type Line, type LineOptions, scanFile } from '../read/entries.ts'
import { openLive } from '../read/transcript.ts'
import { writeNewFile } from './disk.ts'

export type RepairReport = {
  readonly records: number
  /** Lines that were not exactly one record. */
  readonly linesRepaired: number
  readonly duplicatesDropped: number
  readonly parentsRepaired: number
}

export type RepairOutcome =
  | ({ readonly type: 'repaired' } & RepairReport)
  | { readonly type: 'refused'; readonly reason: 'exists' | 'no-records'; readonly path: string }

export function repair(from: string, to: string): RepairOutcome {
  const scan = scanFile(from)
  if (scan.records === 0) return { type: 'refused', reason: 'no-records', path: from }
  const isOurs = scan.format === 'claude-code'
  const dropped = new Set(isOurs ? scan.table.duplicates : [])
  const parents = isOurs ? repairedParents(scan) : new Map<number, string | null>()
  const counts = { records: 0, linesRepaired: 0 }
  const isNew = writeNewFile(to, (write) => {
    let row = 0
    forEachLine(from, (line) => {
      const texts = recordTexts(line)
      if (texts.length !== 1) counts.linesRepaired++
      for (const text of texts) {
        const at = row++
        if (dropped.has(at)) continue
        counts.records++
        const parent = parents.get(at)
        write(`${parent === undefined ? text : withParent(text, parent)}\n`)
      }
    })
  })
  if (!isNew) return { type: 'refused', reason: 'exists', path: to }
  return { type: 'repaired', ...counts, duplicatesDropped: dropped.size, parentsRepaired: parents.size }
}

function recordTexts({ buffer, start, end }: Line): readonly string[] {
  const text = buffer.toString('utf8', start, end)
  const { records, stretches } = decodeLine(text)
  if (stretches.length > 0) return stretches.map((at) => text.slice(at.start, at.end))
  return records.length > 0 ? [text.trim()] : []
}

/** New parents for orphans and for the entries at which cycles were cut. */
function repairedParents({ table, graph }: Pick<Scan, 'table' | 'graph'>): ReadonlyMap<number, string | null> {
  const uuids = new Map([...table.ids].map(([uuid, row]) => [row, uuid]))
  return new Map([...graph.orphans, ...graph.cuts].map((row) => [row, uuids.get(graph.parents[row] ?? -1) ?? null]))
}

/** Keeps the old parent in an extra field. */
function withParent(text: string, parentUuid: string | null): string {
  const record = JSON.parse(text)
  const everlong = { ...record.everlong, parentUuidBeforeRepair: record.parentUuid }
  return JSON.stringify({ ...record, parentUuid, everlong })
}

export type FsckReport = {
  readonly path: string
  readonly isTranscript: boolean
  readonly findings: readonly Finding[]
  readonly errors: number
  readonly notes: number
  readonly repaired: { readonly records: number; readonly live: Tally }
}

export function fsck(path: string, options: LineOptions = {}): FsckReport {
  const scan = scanFile(path, options)
  const live = tallyOf(openLive(path).entries)
  const findings = findingsOf(scan, scan.problems, live)
  const errors = findings.filter((finding) => finding.severity === 'error').length
  return {
    path,
    isTranscript: isTranscript(scan),
    findings,
    errors,
    notes: findings.length - errors,
    repaired: { records: scan.records - scan.table.duplicates.length, live },
  }
}
