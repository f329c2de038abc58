// The output of Grep: matching lines with context, paths, or counts, within limits.
import { readFileSync } from 'node:fs'
import type { Kit } from '../kit.ts'
import { shortened } from '../read-range.ts'
import { nameFor } from './glob-tool.ts'
import type { GrepInput } from './grep-input.ts'
import { type FileMatch, linesOf } from './matching.ts'

export type GrepResults = {
  readonly kit: Kit
  readonly given: GrepInput
  readonly matches: readonly FileMatch[]
  /** There may be more matches than were checked. */
  readonly isCut: boolean
}

const defaultLimit = 200
const maxLineLength = 500
const maxCharacters = 30_000

export function filesText({ kit, given, matches, isCut }: GrepResults, order: readonly string[]): string {
  if (matches.length === 0) return nothing(isCut)
  return limited(
    order.map((file) => nameFor(kit, file)),
    given,
    { what: 'files', isCut },
  )
}

export function countText({ kit, given, matches, isCut }: GrepResults): string {
  if (matches.length === 0) return nothing(isCut)
  return limited(
    matches.map(({ file, lines }) => `${nameFor(kit, file)}:${lines.length}`),
    given,
    { what: 'files', isCut },
  )
}

export function contentText(results: GrepResults): string {
  const { kit, given, matches, isCut } = results
  if (matches.length === 0) return nothing(isCut)
  const limit = given.head_limit ?? defaultLimit
  const shown: string[] = []
  for (const match of matches) {
    if (shown.length > limit) break
    shown.push(...linesFor(match, nameFor(kit, match.file), given))
  }
  return limited(shown, given, { what: 'lines', isCut: isCut || shown.length > limit })
}

/** `path:12:text` for a match, `path-11-text` for a line around one, `--` between groups. */
function linesFor({ file, lines }: FileMatch, name: string, given: GrepInput): readonly string[] {
  const before = given['-B'] ?? given['-C'] ?? 0
  const after = given['-A'] ?? given['-C'] ?? 0
  const isNumbered = given['-n'] ?? true
  const all = textLines(file)
  const matching = new Set(lines)
  const shown: string[] = []
  let last = 0
  for (const line of lines) {
    const from = Math.max(last + 1, line - before, 1)
    const to = Math.min(all.length, line + after)
    if (before + after > 0 && last > 0 && from > last + 1) shown.push('--')
    for (let at = from; at <= to; at++) {
      const mark = matching.has(at) ? ':' : '-'
      shown.push(`${name}${mark}${isNumbered ? `${at}${mark}` : ''}${shortened(all[at - 1] ?? '', maxLineLength)}`)
    }
    last = Math.max(last, to)
  }
  return shown
}

function textLines(file: string): readonly string[] {
  try {
    return linesOf(readFileSync(file, 'utf8'))
  } catch {
    return []
  }
}

function limited(
  lines: readonly string[],
  { head_limit: limit = defaultLimit }: GrepInput,
  { what, isCut }: { readonly what: string; readonly isCut: boolean },
): string {
  const shown: string[] = []
  let characters = 0
  for (const line of lines.slice(0, limit)) {
    characters += line.length + 1
    if (characters > maxCharacters) break
    shown.push(line)
  }
  const left = lines.length - shown.length
  if (left === 0 && !isCut) return shown.join('\n')
  const count = isCut ? 'More' : String(left)
  return `${shown.join('\n')}\n[${count} ${isCut ? '' : 'more '}${what} match: narrow the pattern, the path or the glob, or raise head_limit.]`
}

function nothing(isCut: boolean): string {
  return isCut
    ? 'No matches in the files that were searched; there are too many files. Search in a folder below.'
    : 'No matches.'
}
