// Reads the token counts of an answer from its bytes, in the key orders that Claude Code writes. Anything else is left to
// the exact reader.
import { type Chunk, type Pattern, pattern } from './pattern.ts'

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
 * The context size after the answer whose message ends before `end`; from its iteration if it lists exactly one. 0 if
 * nothing was counted or the exact reader has to look.
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
