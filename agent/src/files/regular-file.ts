// Reads a file that others may have written or replaced: only a regular file, and only up to a size. A pipe would wait for a
// writer, and a device may never end.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { reasonOf } from '../reason-of.ts'

export type FileText =
  | { readonly type: 'text'; readonly text: string }
  /** `why` continues a sentence about the file: "it is larger than 256 KB". */
  | { readonly type: 'unreadable'; readonly why: string }

export function readRegularFile(path: string, maxBytes: number, encoding: 'utf8' | 'latin1' = 'utf8'): FileText {
  const unreadable = (why: string): FileText => ({ type: 'unreadable', why })
  try {
    // Opening a device can already have an effect.
    if (!statSync(path).isFile()) return unreadable(notRegular)
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      if (!fstatSync(file).isFile()) return unreadable(notRegular)
      const bytes = firstBytes(file, maxBytes + 1)
      if (bytes.length > maxBytes) return unreadable(`it is larger than ${maxBytes / 1024} KB`)
      return { type: 'text', text: bytes.toString(encoding) }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    return unreadable(reasonOf(error))
  }
}

const notRegular = 'it is not a regular file'

/** The system reports a size of 0 for kernel files, which still have contents. */
function firstBytes(file: number, max: number): Buffer {
  const pieces: Buffer[] = []
  for (let left = max; left > 0; ) {
    const piece = Buffer.alloc(Math.min(left, pieceBytes))
    const count = readSync(file, piece)
    if (count === 0) break
    pieces.push(piece.subarray(0, count))
    left -= count
  }
  return Buffer.concat(pieces)
}

const pieceBytes = 64 * 1024
