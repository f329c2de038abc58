// Reads bytes at a known position without decoding the line: compares them with known bytes, eight at a time, and reads the token
// counts of an answer in the key orders of Claude Code. The exact reader handles everything else.

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
 * Compares doubles, the only eight-byte values that need no allocation; ASCII is never NaN. Always compares five of them,
 * overlapping for short texts, because unrolled code takes half the time of a loop.
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

const openBrace = 0x7b
const closeBrace = 0x7d
const comma = 0x2c
const colon = 0x3a
const zero = 0x30
const usageBefore = pattern('"usage":')
const iterationsBefore = pattern('"iterations":[')
const inputKey = pattern('{"input_tokens":')
const outputKey = pattern(',"output_tokens":')
const writeKey = pattern(',"cache_creation_input_tokens":')
const readKey = pattern(',"cache_read_input_tokens":')
const usageOrder = [inputKey, writeKey, readKey, outputKey]
const iterationOrder = [inputKey, outputKey, readKey, writeKey]
const lifetimesKey = pattern(',"cache_creation":{')
const iterationEnd = pattern(',"type":"message"}]')
/** `cache_creation` and `server_tool_use` may follow the counts. */
const objectsAfter = 2

/**
 * The context size after the answer whose message ends before `end`, from its iteration if it lists exactly one. 0 if nothing was
 * counted or the exact reader is needed.
 */
export function readContextTokens(chunk: Chunk, end: number): number {
  let at = end
  for (let passed = 0; passed <= objectsAfter; passed++) {
    at = chunk.buffer.lastIndexOf(openBrace, at - 1)
    if (at <= 0) return 0
    if (inputKey.isAt(chunk, at)) {
      if (usageBefore.isAt(chunk, at - usageBefore.length)) return readCounts(chunk, at, usageOrder)
      return iterationsBefore.isAt(chunk, at - iterationsBefore.length) ? readCounts(chunk, at, iterationOrder) : 0
    }
    if (chunk.buffer[at - 1] !== colon) return 0
  }
  return 0
}

function readCounts(chunk: Chunk, start: number, order: readonly Pattern[]): number {
  const { buffer } = chunk
  let at = start
  let sum = 0
  for (const key of order) {
    if (!key.isAt(chunk, at)) at = afterLifetimes(chunk, at)
    if (!key.isAt(chunk, at)) return 0
    at += key.length
    const first = at
    let value = 0
    for (let digit = (buffer[at] ?? 0) - zero; digit >= 0 && digit <= 9; digit = (buffer[at] ?? 0) - zero) {
      value = value * 10 + digit
      at++
    }
    if (at === first) return 0
    sum += value
  }
  if (order === usageOrder) return buffer[at] === comma || buffer[at] === closeBrace ? sum : 0
  return iterationEnd.isAt(chunk, afterLifetimes(chunk, at)) ? sum : 0
}

/** Some clients write the `cache_creation` object among the counts. */
function afterLifetimes(chunk: Chunk, at: number): number {
  return lifetimesKey.isAt(chunk, at) ? chunk.buffer.indexOf(closeBrace, at) + 1 : at
}
