// Reads the lines of a file from its end towards its beginning, a block at a time.
import { readSync } from 'node:fs'
import type { Line } from './lines.ts'

export type TailReader = {
  /** The lines of the next block towards the beginning, in file order; undefined when all has been read. */
  readonly earlier: () => readonly Line[] | undefined
  /** Where the lines read so far begin. */
  readonly start: () => number
}

const firstBlock = 256 << 10
const largestBlock = 8 << 20

export function createTailReader(file: number, size: number): TailReader {
  let start = size
  let block = firstBlock
  return {
    start: () => start,
    earlier: () => {
      if (start === 0) return undefined
      const lines = readBlock(file, { end: start, atLeast: block, isTail: start === size })
      block = Math.min(block * 2, largestBlock)
      start = lines[0]?.offset ?? 0
      return lines
    },
  }
}

/** Reads back from `end`, which is the start of a line or the end of the file, until at least one line is whole. */
function readBlock(
  file: number,
  at: { readonly end: number; readonly atLeast: number; readonly isTail: boolean },
): readonly Line[] {
  for (let length = Math.min(at.atLeast, at.end); ; length = Math.min(length * 2, at.end)) {
    const from = at.end - length
    const buffer = Buffer.allocUnsafeSlow(length)
    readFully(file, buffer, from)
    // The first line of the block is whole only when it begins the file.
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

export function readFully(file: number, buffer: Buffer, position: number): void {
  let done = 0
  while (done < buffer.length) {
    const read = readSync(file, buffer, done, buffer.length - done, position + done)
    if (read === 0) throw new Error(`The file ended at byte ${position + done} while it was read: it was shortened.`)
    done += read
  }
}
