// From the bytes of a file to lines, and from lines to the entries of a transcript. Reads forwards or from the end, with one chunk
// in memory at a time, and reports damaged lines.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { decodeLine } from '../../core/transcript/format/decode.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import {
  createTranscriptReader,
  type Format,
  formatOf,
  type TranscriptReader,
} from '../../core/transcript/format/reader.ts'
import { createScanner, type Scan } from '../../core/transcript/tree/scan.ts'

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
/** The start of our own records. A crash during the very first write leaves only part of one. */
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

// Lines with any content.

/** Valid only during the visit: the buffer is reused. */
export type Line = {
  readonly buffer: Buffer
  readonly start: number
  /** Exclusive, and without the newline. */
  readonly end: number
  readonly offset: number
  /** Counted from 1. */
  readonly number: number
  /** False for a last line without a newline. */
  readonly ended: boolean
}

export type LineOptions = {
  /** The first byte, at the start of a line. Default: 0. */
  readonly from?: number
  readonly linesBefore?: number
  readonly onProgress?: (bytesDone: number, bytesAll: number) => void
}

/** Fits in the processor cache. */
const chunkSize = 1 << 18

/** Until the visit returns false. */
export function forEachLine(path: string, visit: (line: Line) => unknown, options: LineOptions = {}): void {
  const file = openSync(path, 'r')
  try {
    const document = options.from ? undefined : readDocument(file)
    if (document) visit(document)
    else streamLines(file, visit, options)
  } finally {
    closeSync(file)
  }
}

/** A file with one JSON document over many lines, such as an export. It counts as one line. */
function readDocument(file: number): Line | undefined {
  const { size } = fstatSync(file)
  const start = Buffer.alloc(Math.min(16, size))
  readFully(file, start, 0)
  if (!/^\uFEFF?\s*\{\s*\n/.test(start.toString('utf8'))) return undefined
  const buffer = Buffer.allocUnsafeSlow(size)
  readFully(file, buffer, 0)
  let end = buffer.length
  while (end > 0 && (buffer[end - 1] ?? 0) <= 0x20) end--
  return { buffer, start: 0, end, offset: 0, number: 1, ended: true }
}

function streamLines(file: number, visit: (line: Line) => unknown, options: LineOptions): void {
  const { from = 0, linesBefore = 0, onProgress } = options
  const to = fstatSync(file).size
  let buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, Math.max(to - from, 1)))
  let filled = 0
  let position = from
  const line = { buffer, start: 0, end: 0, offset: from, number: linesBefore, ended: true }
  for (;;) {
    if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const room = Math.min(buffer.length - filled, to - position)
    const read = room > 0 ? readSync(file, buffer, filled, room, position) : 0
    const searched = filled
    filled += read
    position += read
    const base = position - filled
    line.buffer = buffer
    let start = 0
    for (let end = buffer.indexOf(10, searched); end >= 0 && end < filled; end = buffer.indexOf(10, start)) {
      line.start = start
      line.end = end
      line.offset = base + start
      line.number++
      if (visit(line) === false) return
      start = end + 1
    }
    if (read === 0) {
      const rest = { start, end: filled, offset: base + start, number: line.number + 1, ended: false }
      if (start < filled) visit({ ...line, ...rest })
      return
    }
    buffer.copyWithin(0, start, filled)
    filled -= start
    onProgress?.(position - from, to - from)
  }
}

const firstBlock = 256 << 10
const maxBlockBytes = 8 << 20

/** Reads a file from its end towards its beginning. The lines of a block are in file order and not numbered. */
export function* blocksFromEnd(file: number, size: number): Generator<readonly Line[], void, void> {
  let atLeast = firstBlock
  for (let start = size; start > 0; atLeast = Math.min(atLeast * 2, maxBlockBytes)) {
    const lines = readBlock(file, start, atLeast)
    start = lines[0]?.offset ?? 0
    yield lines
  }
}

/** Reads back from `end` (the start of a line or the end of the file) until the block contains a whole line. */
function readBlock(file: number, end: number, atLeast: number): readonly Line[] {
  for (let length = Math.min(atLeast, end); ; length = Math.min(length * 2, end)) {
    const from = end - length
    const buffer = Buffer.allocUnsafeSlow(length)
    readFully(file, buffer, from)
    // The first line of the block is whole only at the start of the file.
    const first = from === 0 ? 0 : buffer.indexOf(10) + 1
    if (from === 0 || (first > 0 && first < length)) return splitLines(buffer, first, from)
  }
}

function splitLines(buffer: Buffer, first: number, base: number): readonly Line[] {
  const lines: Line[] = []
  let start = first
  while (start < buffer.length) {
    const newline = buffer.indexOf(10, start)
    const end = newline < 0 ? buffer.length : newline
    lines.push({ buffer, start, end, offset: base + start, number: 0, ended: newline >= 0 })
    start = end + 1
  }
  return lines
}

export function readBytes(path: string, from: number, to: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(to - from)
    readFully(file, buffer, from)
    return buffer
  } finally {
    closeSync(file)
  }
}

export function readFully(file: number, buffer: Buffer, position: number): void {
  let done = 0
  while (done < buffer.length) {
    const read = readSync(file, buffer, done, buffer.length - done, position + done)
    if (read === 0) throw new Error(`The file was truncated to ${position + done} bytes while it was being read.`)
    done += read
  }
}
