// Reports what is wrong with a transcript on disk and what a repaired one would contain. Writes nothing.
import { type Finding, findingsOf, type Tally, tallyOf } from '../../core/transcript/report/findings.ts'
import { isTranscript } from '../../core/transcript/tree/scan.ts'
import { scanFile } from './entries.ts'
import type { LineOptions } from './lines.ts'
import { openLive } from './live-file.ts'

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
