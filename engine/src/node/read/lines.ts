// Streams the lines of a file, forwards, in the memory of one chunk. Bytes only: what they mean is not its business.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** One line, valid during the visit only: the buffer is used again. */
export type Line = {
  readonly buffer: Buffer
  readonly start: number
  /** Behind the last byte; the newline is not part of the line. */
  readonly end: number
  readonly offset: number
  /** Counted from 1. */
  readonly number: number
  /** False for a last line that no newline ends. */
  readonly ended: boolean
}

export type LineOptions = {
  /** First and last byte (exclusive); both must be starts of lines. The whole file when left out. */
  readonly from?: number
  readonly to?: number
  /** How many lines come before `from`: they are counted on. */
  readonly linesBefore?: number
  readonly onProgress?: (bytesDone: number, bytesAll: number) => void
}

/** Small enough to stay in the processor's cache while its lines are looked at. */
const chunkSize = 1 << 18

/** About how many lines so many bytes are: sessions have one to four thousand bytes a line on average. */
export function expectedEntries(bytes: number): number {
  return Math.ceil(bytes / 2000) + 16
}

export function forEachLine(path: string, visit: (line: Line) => void, options: LineOptions = {}): void {
  const file = openSync(path, 'r')
  try {
    const from = options.from ?? 0
    streamLines(file, visit, { ...options, from, to: options.to ?? fstatSync(file).size })
  } finally {
    closeSync(file)
  }
}

function streamLines(
  file: number,
  visit: (line: Line) => void,
  options: LineOptions & { readonly from: number; readonly to: number },
): void {
  const { from, to } = options
  // Not zeroed: only the bytes that were read into it are looked at.
  let buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, Math.max(to - from, 1)))
  let filled = 0
  let position = from
  const line = { buffer, start: 0, end: 0, offset: from, number: options.linesBefore ?? 0, ended: true }
  for (;;) {
    if (filled === buffer.length) buffer = grown(buffer, filled)
    const read =
      position < to ? readSync(file, buffer, filled, Math.min(buffer.length - filled, to - position), position) : 0
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
      visit(line)
      start = end + 1
    }
    if (read === 0) {
      const rest = { start, end: filled, offset: base + start, number: line.number + 1, ended: false }
      if (start < filled) visit({ ...line, ...rest })
      return
    }
    buffer.copyWithin(0, start, filled)
    filled -= start
    options.onProgress?.(position - from, to - from)
  }
}

function grown(buffer: Buffer<ArrayBuffer>, filled: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(buffer.length * 2)
  buffer.copy(larger, 0, 0, filled)
  return larger
}
