// Folds each block that a user pasted (code, logs, JSON, terminal output) to one line, so that the user's own words can be
// kept whole. Works line by line, in linear time.
import { headOf } from '../text/cut.ts'

/** A shorter block costs little more than the line that would replace it. */
const minFolded = 400

/** "Why?" and 120 lines of a log → "Why?" and one line, as `foldedLine` writes it. */
export function foldPasted(text: string): string {
  if (text.length < minFolded) return text
  const parts: string[] = []
  let block: string[] = []
  let isFenced = false
  for (const line of text.split('\n')) {
    const isFence = /^\s*(?:```|~~~)/.test(line)
    const isProse = !isFenced && !isFence && isProseLine(line)
    if (isFence) isFenced = !isFenced
    if (isProse || (block.length === 0 && line.trim() === '')) {
      parts.push(...folded(block), line)
      block = []
    } else block.push(line)
  }
  return [...parts, ...folded(block)].join('\n')
}

/** Replaces a long block with one line. Keeps blank lines at its end. */
function folded(block: readonly string[]): readonly string[] {
  const end = block.findLastIndex((line) => line.trim() !== '') + 1
  const pasted = block.slice(0, end)
  return pasted.join('\n').length < minFolded ? block : [foldedLine(pasted), ...block.slice(end)]
}

const maxLooked = 2_000
/** Sentences consist almost entirely of letters, spaces and punctuation; `if (a[0] === b[1]) { c += 2 }` does not. */
const proseShare = 0.85

/** The first line of a diff, and a prompt with its command: "@@ -1,4 +1,4 @@", "$ npm test". */
const opensOutput = /^(?:diff --git |@@ |\+\+\+ |[$❯%] )/

/** "- Please fix the `open()` of the gate." is prose. Not: "    return open", "12:00:01 ERROR 0x3f", "=====" */
function isProseLine(line: string): boolean {
  if (line.trim() === '' || opensOutput.test(line) || /^(?: {4}|\t)(?!\s*(?:[-*•]|\d+[.)])\s)/.test(line)) return false
  // Names in backticks and addresses are part of what people write.
  const bare = line
    .slice(0, maxLooked)
    .replace(/`[^`]*`|https?:\/\/\S+/g, 'x')
    .replace(/^\s*(?:[-*•]|\d+[.)]|#+)\s+/, '')
  if (bare.trim() === '') return false
  const plain = bare.match(/[\p{L}\p{M}\s.,;:!?'"’“”()/-]/gu)?.length ?? 0
  const words = bare.match(/\p{L}{2,}/gu)?.length ?? 0
  return plain / bare.length >= proseShare && (words >= 3 || bare.length < 40)
}

/** `[pasted log, 120 lines, 9,400 characters, starting "12:00:01 ERROR no gate"]` */
function foldedLine(block: readonly string[]): string {
  const body = block.join('\n')
  const first = block.find((line) => /[\p{L}\p{N}]/u.test(line) && !/^\s*(?:```|~~~)/.test(line)) ?? ''
  const size = `${block.length.toLocaleString('en')} lines, ${body.length.toLocaleString('en')} characters`
  const start = headOf(first.trim(), 80).replaceAll('"', "'")
  return `[pasted ${kindOf(body)}, ${size}, starting "${start}"]`
}

/** `{"a": 1}` → JSON; "@@ -1 +1 @@" → diff; "    at open (gate.ts:4:2)" → stack trace; "12:00:01 ready" → log; "$ ls" → terminal output. */
function kindOf(body: string): string {
  const start = body.slice(0, 4_000).trimStart()
  if (/^(?:```\s*json)?\s*[[{]\s*["{[\]]/.test(start)) return 'JSON'
  if (/^(?:diff --git|@@ |--- |\+\+\+ )/m.test(start)) return 'diff'
  if (/^\s*at .+:\d+|^Traceback /m.test(start)) return 'stack trace'
  if (/^\s*[[(]?\d{4}-\d\d-\d\d|^\s*\d\d:\d\d:\d\d|\b(?:INFO|WARN|ERROR|DEBUG)\b/m.test(start)) return 'log'
  return /^\s*(?:[$❯%#>]|\S+@\S+[:~])\s/m.test(start) ? 'terminal output' : 'code or output'
}
