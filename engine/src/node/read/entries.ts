// From the lines of a file to the entries of a transcript, with a report of what was wrong on the way.
import { decodeLine } from '../../core/transcript/format/decode.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import {
  createTranscriptReader,
  type Format,
  type TranscriptReader,
} from '../../core/transcript/format/foreign/reader.ts'
import { forEachLine, type Line, type LineOptions } from './lines.ts'

/** A line that was not just one whole record. */
export type LineProblem = {
  readonly line: number
  readonly offset: number
  readonly type:
    | 'several-records' // more than one record on the line
    | 'lost-text' // a stretch of the line held no whole record
    | 'torn' // the last line was cut before its newline, and what was written of it is no record
    | 'too-long' // longer than a string can be
  /** Bytes, or characters where the line could be decoded. */
  readonly lost: number
}

export type ReadReport = {
  readonly format: Format
  readonly bytes: number
  readonly lines: number
  readonly salvaged: number
  readonly problems: readonly LineProblem[]
}

/** V8 ends strings a little above this. */
const longestLine = 0x1ff00000

export function forEachEntry(path: string, visit: (entry: Entry) => void, options: LineOptions = {}): ReadReport {
  const reader = createTranscriptReader()
  const problems: LineProblem[] = []
  let bytes = 0
  let lines = 0
  let salvaged = 0
  forEachLine(
    path,
    (line) => {
      lines = line.number
      bytes = line.offset + (line.end - line.start) + (line.ended ? 1 : 0)
      salvaged += readLine(line, { reader, visit, problems })
    },
    options,
  )
  return { format: reader.format(), bytes, lines, salvaged, problems }
}

type Sink = {
  readonly reader: TranscriptReader
  readonly visit: (entry: Entry) => void
  readonly problems: LineProblem[]
}

/** Reads one line; returns how many records had to be salvaged from it. */
export function readLine(line: Line, { reader, visit, problems }: Sink): number {
  const { offset, number } = line
  const length = line.end - line.start
  if (length === 0) return 0
  if (length > longestLine) {
    problems.push({ line: number, offset, type: 'too-long', lost: length })
    return 0
  }
  const { records, salvaged, lost } = decodeLine(line.buffer.toString('utf8', line.start, line.end))
  for (let nth = 0; nth < records.length; nth++) {
    const record = records[nth]
    if (record) for (const entry of reader.read(record, { line: number, offset, length, nth })) visit(entry)
  }
  if (records.length > 1) problems.push({ line: number, offset, type: 'several-records', lost: 0 })
  for (const stretch of lost) {
    const type = !line.ended && records.length === 0 ? 'torn' : 'lost-text'
    problems.push({ line: number, offset, type, lost: stretch.end - stretch.start })
  }
  return salvaged
}
