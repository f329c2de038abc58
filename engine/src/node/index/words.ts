// Bytes looked at four at a time: whether a text that is known beforehand stands at a known place.
// Nothing is searched here, and nothing decoded.

/** The bytes of a chunk, also as words. */
export type Chunk = { readonly buffer: Buffer; readonly view: DataView; readonly size: number }

export function chunkOf(buffer: Buffer): Chunk {
  const { buffer: bytes, byteOffset, length } = buffer
  return { buffer, view: new DataView(bytes, byteOffset, length), size: length }
}

/** A text of 8 to 40 bytes that is known when the program is written. */
export type Pattern = {
  readonly length: number
  readonly isAt: (chunk: Chunk, at: number) => boolean
}

/**
 * Compares eight bytes at a time, as floating-point numbers: the only words of that size which cost no allocation.
 * Letters never make a number that is unequal to itself. It reads five words always, the last one again where the text
 * is shorter: written out it takes half the time of a loop.
 */
export function pattern(text: string): Pattern {
  const bytes = Buffer.from(text)
  const { length } = bytes
  if (length < 8 || length > 40) throw new Error(`No pattern has ${length} bytes.`)
  const [first, second, third, fourth, fifth] = [0, 8, 16, 24, 32].map((at) => Math.min(at, length - 8))
  const word = (at: number | undefined) => bytes.readDoubleLE(at)
  const [at2, at3, at4, at5] = [second ?? 0, third ?? 0, fourth ?? 0, fifth ?? 0]
  const [word1, word2, word3, word4, word5] = [first, second, third, fourth, fifth].map(word)
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

/** Bytes of any length that were met before. */
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

/** Looks for two texts of the same length at once, in steps as long as the letters allow. For short stretches. */
export function searchFor(one: string, other: string): (buffer: Buffer, start: number, end: number) => boolean {
  const first = Buffer.from(one)
  const second = Buffer.from(other)
  const last = first.length - 1
  const steps = new Uint8Array(256).fill(first.length)
  for (let at = 0; at < last; at++) {
    for (const letter of [first[at] ?? 0, second[at] ?? 0]) steps[letter] = last - at
  }
  const isAt = (buffer: Buffer, text: Buffer, place: number): boolean => {
    for (let at = 0; at < text.length; at++) if (buffer[place + at] !== text[at]) return false
    return true
  }
  return (buffer, start, end) => {
    for (let at = start + last; at < end; ) {
      const letter = buffer[at] ?? 0
      if (letter === first[last] && isAt(buffer, first, at - last)) return true
      if (letter === second[last] && isAt(buffer, second, at - last)) return true
      at += steps[letter] ?? 1
    }
    return false
  }
}
