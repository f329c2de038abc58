// Searches files for a pattern without ripgrep. Runs in a worker (matching-worker.ts), because some patterns take forever.
import { readFileSync, statSync } from 'node:fs'

export type Search = {
  readonly files: readonly string[]
  readonly pattern: string
  readonly ignoreCase: boolean
  readonly multiline: boolean
  /** Stops after this many matching lines. */
  readonly most: number
}

/** The numbers of matching lines, from 1, and all lines of the file if requested. */
export type FileMatch = { readonly file: string; readonly lines: readonly number[] }

const maxFileBytes = 16 * 1024 * 1024

/** ripgrep's `(?i)` at the start means the flag. */
export function expressionOf({ pattern, ignoreCase, multiline }: Omit<Search, 'files' | 'most'>): RegExp {
  const inline = /^\(\?([imsx]+)\)/.exec(pattern)
  const source = inline ? pattern.slice(inline[0].length) : pattern
  const isInsensitive = ignoreCase || inline?.[1]?.includes('i') === true
  const flags = `g${isInsensitive ? 'i' : ''}m${multiline || inline?.[1]?.includes('s') ? 's' : ''}`
  return new RegExp(withUnicode(source), `${flags}u`)
}

const letters = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}'
const edge = `(?:(?<=[${letters}])(?![${letters}])|(?<![${letters}])(?=[${letters}]))`

/** In ripgrep, words and digits are those of every script, and any punctuation may be escaped. */
function withUnicode(source: string): string {
  let isSet = false
  return source.replace(/\\[\s\S]|[[\]]/g, (part) => {
    if (part === '[') isSet = true
    if (part === ']') isSet = false
    if (part === '\\d') return '\\p{Nd}'
    if (part === '\\D') return '\\P{Nd}'
    if (part === '\\w') return isSet ? letters : `[${letters}]`
    if (part === '\\W' && !isSet) return `[^${letters}]`
    if (part === '\\b' && !isSet) return edge
    const [, mark = ''] = part
    return /^[!-/:-@[-`{-~]$/.test(mark) && !`${isSet ? '-' : ''}^$\\.*+?()[]{}|/`.includes(mark) ? mark : part
  })
}

export function searchFiles(search: Search): readonly FileMatch[] {
  const expression = expressionOf(search)
  const found: FileMatch[] = []
  let left = search.most
  for (const file of search.files) {
    if (left <= 0) break
    const text = textAt(file)
    if (text === undefined) continue
    const lines = (search.multiline ? spanningLines : singleLines)(text, expression)
    if (lines.length === 0) continue
    found.push({ file, lines })
    left -= lines.length
  }
  return found
}

function singleLines(text: string, expression: RegExp): readonly number[] {
  const found: number[] = []
  for (const [at, line] of linesOf(text).entries()) {
    expression.lastIndex = 0
    if (expression.test(line)) found.push(at + 1)
  }
  return found
}

/**
 * The model sees CRLF as LF; ripgrep does not let `
 * ` match CRLF.
 */
function spanningLines(given: string, expression: RegExp): readonly number[] {
  const text = given.replaceAll('\r\n', '\n')
  const found = new Set<number>()
  let line = 1
  let at = 0
  for (const match of text.matchAll(expression)) {
    for (; at < match.index; at++) if (text[at] === '\n') line++
    const last = line + match[0].replace(/\n$/, '').split('\n').length - 1
    for (let each = line; each <= last; each++) found.add(each)
  }
  // The last line end starts no new line.
  const count = linesOf(text).length
  return [...found].filter((each) => each <= count)
}

export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Files that are binary, huge or gone have no matches. */
function textAt(file: string): string | undefined {
  return bytesAt(file)?.toString('utf8')
}

export function isSearched(file: string): boolean {
  return bytesAt(file) !== undefined
}

function bytesAt(file: string): Buffer | undefined {
  try {
    if (statSync(file).size > maxFileBytes) return undefined
    const bytes = readFileSync(file)
    return bytes.includes(0) ? undefined : bytes
  } catch {
    return undefined
  }
}
