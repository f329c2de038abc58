// Shortens texts: truncates without splitting surrogate pairs, and condenses prose by whole paragraphs and sentences. Replaces lone
// surrogates, which APIs refuse. Lengths are UTF-16 code units.

export function headOf(text: string, max: number): string {
  if (text.length <= max) return text
  const end = Math.max(0, Math.floor(max))
  return text.slice(0, splitsPair(text, end) ? end - 1 : end)
}

export function tailOf(text: string, max: number): string {
  if (text.length <= max) return text
  const start = text.length - Math.max(0, Math.floor(max))
  return text.slice(splitsPair(text, start) ? start + 1 : start)
}

/** Returns at most `max` characters, ending in an ellipsis if truncated. */
export function clipped(text: string, max: number): string {
  return text.length <= max ? text : `${headOf(text, max - 1)}…`
}

/** Share of the limit that a cut between words must keep. */
const minKept = 0.4

/** Like `clipped`, but cuts between words if possible, because half a name is misleading. */
export function clippedAtWord(text: string, max: number): string {
  if (text.length <= max) return text
  const part = headOf(text, max - 1)
  const space = /\s/.test(text[part.length] ?? '') ? part.length : part.search(/\s\S*$/)
  return `${(space > max * minKept ? part.slice(0, space) : part).trimEnd()}…`
}

export type MiddleCut = {
  /** Number of characters to keep, not counting the marker. */
  readonly max: number
  readonly headShare?: number
  readonly marker?: (missing: number) => string
}

export function withoutMiddle(text: string, { max, headShare = 0.6, marker = missingMarker }: MiddleCut): string {
  if (text.length <= max) return text
  const head = headOf(text, Math.ceil(max * headShare))
  const tail = tailOf(text, max - Math.ceil(max * headShare))
  return `${head}${marker(text.length - head.length - tail.length)}${tail}`
}

function missingMarker(missing: number): string {
  return `\n[… ${missing} characters left out …]\n`
}

export type TokenLimit = {
  readonly tokens: number
  readonly countTokens: (text: string) => number
}

/** No tokenizer puts more characters into a token, so text beyond this need not be counted. */
const charactersPerToken = 16

/** The longest head that fits. It ends at a line break if that costs less than half of it. */
export function headWithin(text: string, { tokens, countTokens }: TokenLimit): string {
  let tooLong = Math.min(text.length, Math.max(0, tokens) * charactersPerToken)
  if (tooLong === text.length && countTokens(text) <= tokens) return text
  let fits = 0
  tooLong++
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >>> 1
    if (countTokens(text.slice(0, middle)) <= tokens) fits = middle
    else tooLong = middle
  }
  const lineEnd = fits === 0 ? 0 : text.lastIndexOf('\n', fits - 1) + 1
  return lineEnd > fits / 2 ? text.slice(0, lineEnd) : headOf(text, fits)
}

/** The text if it fits, otherwise the longest head that fits with the marker; '' if none does. */
export function markedHeadWithin(
  text: string,
  { tokens, countTokens, marker }: TokenLimit & { readonly marker: string },
): string {
  if (countTokens(text) <= tokens) return text
  const head = headWithin(text, { tokens, countTokens: (part) => countTokens(`${part}\n${marker}`) })
  return head === '' ? '' : `${head.endsWith('\n') ? head : `${head}\n`}${marker}`
}

function splitsPair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff
}

/** Replaces lone surrogates with U+FFFD. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/**
 * Does the same for every string and key in a JSON value. If two keys become equal, the last one stays. Returns the same object
 * if nothing changes.
 */
export function wellFormedValue<T>(value: T): T
export function wellFormedValue(value: unknown): unknown {
  if (isFine(value, 0)) return value
  return isNode(value) ? repaired(value) : wellFormed(String(value))
}

type Node = Readonly<Record<string, unknown>> | readonly unknown[]

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

/** Deeper values and cycles are left to the repair, which does not recurse, because tool input may be deeper than the stack. */
const maxDepth = 50

/** Uses plain loops, because it reads every block of a conversation before each request. */
function isFine(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (!isNode(value)) return true
  if (depth === maxDepth) return false
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (!isFine(value[at], depth + 1)) return false
    return true
  }
  const node = value as Readonly<Record<string, unknown>>
  for (const key in node) if (!key.isWellFormed() || !isFine(node[key], depth + 1)) return false
  return true
}

/** Repairs children before parents. */
function repaired(root: Node): Node {
  const done = new Map<Node, Node>()
  const begun = new Set<Node>()
  const open: Node[] = [root]
  for (let node = open.at(-1); node !== undefined; node = open.at(-1)) {
    if (!begun.has(node)) {
      begun.add(node)
      for (const value of Object.values(node)) if (isNode(value) && !begun.has(value)) open.push(value)
      continue
    }
    open.pop()
    if (!done.has(node)) done.set(node, copyOf(node, done))
  }
  return done.get(root) ?? root
}

/** Returns the same object if nothing changed. */
function copyOf(node: Node, done: ReadonlyMap<Node, Node>): Node {
  const now = (value: unknown) =>
    typeof value === 'string' ? wellFormed(value) : isNode(value) ? (done.get(value) ?? value) : value
  if (Array.isArray(node)) {
    const items = node.map(now)
    return items.every((item, at) => item === node[at]) ? node : items
  }
  const entries = Object.entries(node)
  const isSame = entries.every(([key, value]) => key.isWellFormed() && now(value) === value)
  return isSame ? node : Object.fromEntries(entries.map(([key, value]) => [wellFormed(key), now(value)]))
}

/** Marks a place where text was left out. */
export const gap = '[…]'

/** The whole text if it has at most `max` characters, otherwise its first and last paragraphs. */
export function condensed(text: string, max: number): string {
  const whole = text.trim()
  if (whole.length <= max) return whole
  const pieces = piecesOf(whole, max / 2)
  const fitting = take(pieces, max * 0.4)
  // The beginning always stays, because it says what the text is about.
  const [first = ''] = pieces
  const head = fitting.length > 0 || isBlock.test(first) ? fitting : [clippedAtWord(first, max * 0.4)]
  const tail = take(pieces.slice(head.length).toReversed(), max - length(head)).toReversed()
  if (fitting.length + tail.length === 0) return `${headOf(whole, max)} ${gap}`
  if (fitting.length + tail.length === pieces.length) return whole
  return [head.join('\n'), gap, tail.join('\n')].filter((part) => part !== '').join('\n')
}

/** A table or a fenced block: part of one is worthless. */
const isBlock = /^\s*(?:```|~~~|\|)/

export function withoutCode(text: string): string {
  let isFenced = false
  const lines = text.split('\n').filter((line) => {
    const isFence = /^\s*(?:```|~~~)/.test(line)
    const isCode = isFenced || isFence
    if (isFence) isFenced = !isFenced
    return !isCode
  })
  return lines.join('\n')
}

const listMark = /^\s*(?:[-*+•]|\d+[.)])\s+/

/** The first sentences of prose that fit, without code, tables, headings, questions or lead-ins. */
export function gist(text: string, max: number): string {
  const kept: string[] = []
  let left = max
  for (const line of withoutCode(text).split('\n')) {
    if (/^\s*(?:\||#{1,6} |-{3,}|\*{3,}|$)|[:?](?:\*\*)?\s*$/.test(line)) continue
    const fitting = take(line.replace(listMark, '').split(sentenceEnd), left).join(' ')
    if (fitting !== '') kept.push(/[.!;。！]$/.test(fitting) ? fitting : `${fitting};`)
    left -= fitting.length + 1
    if (left < max / 2) break
  }
  return kept.length === 0 ? condensed(text, max) : kept.join(' ').replace(/;$/, '')
}

/**
 * A sentence does not end after the label of a list item (1. A.) or an abbreviation, nor before a remark in parentheses about it:
 * "All tests pass. (last seen: 3 failed)".
 */
export const sentenceEnd = /(?<=[.!?。！？])(?<!(?:^|[\s*_(])(?:\d{1,3}|[A-Za-z]|vs|e\.g|i\.e|cf|etc)\.)\s+(?![\s(])/m

/** Splits text into whole tables and fenced blocks, and single lines; a line longer than `maxLength` into sentences. */
function piecesOf(text: string, maxLength: number): readonly string[] {
  const pieces: string[] = []
  let block: 'table' | 'fence' | undefined
  for (const line of text.split('\n')) {
    if (line.trim() === '' && block !== 'fence') continue
    const isFence = /^\s*(?:```|~~~)/.test(line)
    const isRow = /^\s*\|/.test(line)
    if (block === 'fence' || (block === 'table' && isRow)) pieces.push(`${pieces.pop() ?? ''}\n${line}`)
    else if (isFence || isRow || line.length <= maxLength) pieces.push(line)
    else for (const sentence of line.split(sentenceEnd)) pieces.push(sentence)
    block = (block === 'fence') !== isFence ? 'fence' : isRow && block !== 'fence' ? 'table' : undefined
  }
  return pieces
}

/** The first pieces that fit. */
function take(pieces: readonly string[], max: number): readonly string[] {
  let left = max
  const end = pieces.findIndex((piece) => {
    left -= piece.length + 1
    return left < 0
  })
  return end < 0 ? pieces : pieces.slice(0, end)
}

function length(pieces: readonly string[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length + 1, 0)
}
