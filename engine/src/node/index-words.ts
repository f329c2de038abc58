// Bytes looked at four at a time: whether a text that is known beforehand stands at a known place.
// Nothing is searched here, and nothing decoded.

/** The bytes of a chunk, also as words. */
export type Chunk = { readonly buffer: Buffer; readonly view: DataView; readonly size: number }

export type Pattern = {
  readonly length: number
  readonly words: Int32Array
  /** The last four bytes; of a shorter text only what the mask leaves. */
  readonly lastWord: number
  readonly lastMask: number
}

export function chunkOf(buffer: Buffer): Chunk {
  const { buffer: bytes, byteOffset, length } = buffer
  return { buffer, view: new DataView(bytes, byteOffset, length), size: length }
}

export function pattern(text: string | Uint8Array): Pattern {
  const bytes = Buffer.from(text)
  const { length } = bytes
  const words = Int32Array.from({ length: length >> 2 }, (_, at) => bytes.readInt32LE(at * 4))
  const last = Buffer.alloc(4)
  bytes.copy(last, Math.max(0, 4 - length), Math.max(0, length - 4))
  return { length, words, lastWord: last.readInt32LE(), lastMask: length < 4 ? -1 << (8 * (4 - length)) : -1 }
}

export function startsWith({ view, size }: Chunk, at: number, { length, words, lastWord, lastMask }: Pattern): boolean {
  const last = at + length - 4
  if (at < 0 || last < 0 || last + 4 > size) return false
  for (let i = 0; i < words.length; i++) if (view.getInt32(at + i * 4, true) !== words[i]) return false
  return ((view.getInt32(last, true) ^ lastWord) & lastMask) === 0
}

export function endsWith(chunk: Chunk, end: number, wanted: Pattern): boolean {
  return startsWith(chunk, end - wanted.length, wanted)
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
