// Turns the lines of a file into the entries of a transcript and reports damaged lines.
import { decodeLine } from '../../core/transcript/format/decode.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import {
  createTranscriptReader,
  type Format,
  formatOf,
  type TranscriptReader,
} from '../../core/transcript/format/reader.ts'
import { createScanner, type Scan } from '../../core/transcript/tree/scan.ts'
import { forEachLine, type Line, type LineOptions } from './lines.ts'

/** A line that is not exactly one whole record. */
export type LineProblem = {
  readonly line: number
  readonly offset: number
  readonly type:
    | 'several-records'
    | 'lost-text' // part of the line belongs to no whole record
    | 'torn' // the last line has no newline and contains no record
    | 'too-long' // longer than a string can be
  /** Characters; bytes if the line is too long to decode. */
  readonly lost: number
}

export type ReadReport = {
  readonly format: Format
  readonly bytes: number
  readonly lines: number
  readonly salvaged: number
  readonly problems: readonly LineProblem[]
}

export type FileScan = Scan & ReadReport & { readonly path: string }

/** Just below V8's maximum string length. */
const maxLineBytes = 0x1ff00000

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

export function scanFile(path: string, options: LineOptions = {}): FileScan {
  const scanner = createScanner()
  const report = forEachEntry(path, scanner.add, options)
  return { ...scanner.finish(), ...report, path }
}

type Sink = {
  readonly reader: TranscriptReader
  readonly visit: (entry: Entry) => void
  readonly problems?: LineProblem[]
}

/** Returns how many records were salvaged. */
export function readLine(line: Line, { reader, visit, problems = [] }: Sink): number {
  const { offset, number } = line
  const length = line.end - line.start
  if (length === 0) return 0
  if (length > maxLineBytes) {
    problems.push({ line: number, offset, type: 'too-long', lost: length })
    return 0
  }
  const { records, salvaged, lost } = decodeLine(line.buffer.toString('utf8', line.start, line.end))
  for (const [nth, record] of records.entries()) {
    for (const entry of reader.read(record, { line: number, offset, length, nth })) visit(entry)
  }
  if (records.length > 1) problems.push({ line: number, offset, type: 'several-records', lost: 0 })
  for (const stretch of lost) {
    const type = !line.ended && records.length === 0 ? 'torn' : 'lost-text'
    problems.push({ line: number, offset, type, lost: stretch.end - stretch.start })
  }
  return salvaged
}

const sniffLimit = 64 << 20
/** How our own records begin. A crash during the very first write leaves only part of one. */
const recordStarts = ['{"parentUuid":', '{"type":"']

/** Detects the format from the first lines; undefined if nothing looks like a record of a session. */
export function sniffFormat(path: string): Format | undefined {
  let format: Format | undefined
  let torn: string | undefined = ''
  forEachLine(path, ({ buffer, start, end, offset, ended }) => {
    const text = end - start > maxLineBytes ? '' : buffer.toString('utf8', start, end)
    const formats = decodeLine(text).records.map(formatOf)
    format = formats.find((found) => found !== undefined)
    torn = ended || offset > 0 ? undefined : text
    return format === undefined && offset < sniffLimit
  })
  const isTorn = recordStarts.some((known) => torn !== undefined && (known.startsWith(torn) || torn.startsWith(known)))
  return format ?? (isTorn ? 'claude-code' : undefined)
}
