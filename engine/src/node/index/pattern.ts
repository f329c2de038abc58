// Compares bytes at a known place with known bytes, eight at a time. It searches and decodes nothing.

export type Chunk = { readonly buffer: Buffer; readonly view: DataView; readonly size: number }

export function chunkOf(buffer: Buffer): Chunk {
  const { buffer: bytes, byteOffset, length } = buffer
  return { buffer, view: new DataView(bytes, byteOffset, length), size: length }
}

/** A constant of 8 to 40 bytes. */
export type Pattern = {
  readonly length: number
  readonly isAt: (chunk: Chunk, at: number) => boolean
}

/**
 * Compares doubles: the only eight-byte values that need no allocation, and ASCII is never NaN. It always compares five
 * of them, overlapping for short texts: unrolled it takes half the time of a loop.
 */
export function pattern(text: string): Pattern {
  const bytes = Buffer.from(text)
  const { length } = bytes
  if (length < 8 || length > 40) throw new Error(`A pattern must have 8 to 40 bytes, not ${length}.`)
  const [at1 = 0, at2 = 0, at3 = 0, at4 = 0, at5 = 0] = [0, 8, 16, 24, 32].map((at) => Math.min(at, length - 8))
  const [word1, word2, word3, word4, word5] = [at1, at2, at3, at4, at5].map((at) => bytes.readDoubleLE(at))
  return {
    length,
    isAt: ({ view, size }, at) =>
      at >= 0 &&
      at + length <= size &&
      view.getFloat64(at, true) === word1 &&
      view.getFloat64(at + at2, true) === word2 &&
      view.getFloat64(at + at3, true) === word3 &&
      view.getFloat64(at + at4, true) === word4 &&
      view.getFloat64(at + at5, true) === word5,
  }
}

/** Bytes of any length seen in the file before. */
export type Known = { readonly length: number; readonly words: Float64Array; readonly rest: Uint8Array }

export function known(bytes: Buffer): Known {
  const { length } = bytes
  const words = Float64Array.from({ length: length >> 3 }, (_, at) => bytes.readDoubleLE(at * 8))
  return { length, words, rest: Uint8Array.from(bytes.subarray(words.length * 8)) }
}

export function endsWith({ buffer, view }: Chunk, end: number, { length, words, rest }: Known): boolean {
  const start = end - length
  if (start < 0) return false
  for (let i = 0; i < words.length; i++) if (view.getFloat64(start + i * 8, true) !== words[i]) return false
  const at = end - rest.length
  for (let i = 0; i < rest.length; i++) if (buffer[at + i] !== rest[i]) return false
  return true
}
