// Adds lines to a TOML text and removes them again. Nothing else in the text changes.
import { isDeepStrictEqual } from 'node:util'
import { parse, TomlError } from 'smol-toml'

export type TomlAdded = { readonly type: 'added'; readonly text: string; readonly piece: string } | TomlProblem

export type TomlRemoved = { readonly type: 'removed' | 'gone'; readonly text: string } | TomlProblem

export type TomlProblem = {
  readonly type: 'problem'
  readonly why: string
  /** What a person can do about it. Absent: what this would have done, by hand. */
  readonly todo?: string
}

type Table = { readonly [key: string]: unknown }

export function addToToml(text: string, lines: string, where: 'start' | 'end'): TomlAdded {
  const before = tableOf(text)
  if (typeof before === 'string') return problem(before, 'Correct it, then try again.')
  const ours = tableOf(lines)
  if (typeof ours === 'string') throw new Error(`The lines to add are not TOML: ${ours}`)
  const both = joined(before, ours)
  if (!both) {
    const taken = takenKeys(before, ours).join(', ')
    return problem(`it sets ${taken} already`, `Remove ${taken} from it, then try again.`)
  }
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const body = `${lines.trim()}\n`.replaceAll('\n', eol)
  const { whole, piece } = where === 'start' ? atStart(text, body, eol) : atEnd(text, body, eol)
  // Keys without a table would end up in the table above them.
  if (!isSameValue(tableOf(whole), both)) return problem('the lines would mean something else in it')
  return { type: 'added', text: whole, piece }
}

export function removeFromToml(text: string, lines: string, piece: string): TomlRemoved {
  const now = tableOf(text)
  if (typeof now === 'string') return problem(now)
  const ours = tableOf(lines)
  if (typeof ours === 'string') throw new Error(`The added lines are not TOML: ${ours}`)
  if (joined(now, ours) && !text.includes(piece)) return { type: 'gone', text }
  const [before, after, ...more] = text.split(piece)
  const rest = before === undefined || after === undefined || more.length > 0 ? undefined : before + after
  const left = rest === undefined ? undefined : tableOf(rest)
  const isOurs = typeof left === 'object' && isSameValue(joined(left, ours), now)
  return rest !== undefined && isOurs ? { type: 'removed', text: rest } : problem('the lines were changed')
}

function problem(why: string, todo?: string): TomlProblem {
  return { type: 'problem', why, ...(todo === undefined ? {} : { todo }) }
}

function atEnd(text: string, body: string, eol: string) {
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  const piece = gap + body
  return { whole: text + piece, piece }
}

function atStart(text: string, body: string, eol: string) {
  const piece = text === '' ? body : body + eol
  const mark = text.startsWith('\ufeff') ? 1 : 0
  return { whole: text.slice(0, mark) + piece + text.slice(mark), piece }
}

/** The parsed text, or the reason why it cannot be parsed. */
function tableOf(text: string): Table | string {
  try {
    return parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    const what = /^(?:Invalid TOML document: )?(.*)/.exec(error instanceof Error ? error.message : String(error))?.[1]
    const where = error instanceof TomlError ? ` in line ${error.line}` : ''
    return `it is not valid TOML${where}: ${what}`
  }
}

/** Both tables in one; undefined where they define the same key. */
function joined(a: Table, b: Table): Table | undefined {
  const all: Record<string, unknown> = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const mine = a[key]
    const deeper = isTable(mine) && isTable(value) ? joined(mine, value) : undefined
    if (mine !== undefined && deeper === undefined) return undefined
    all[key] = deeper ?? value
  }
  return all
}

/** The keys of `b`, dotted, that `a` has too. */
function takenKeys(a: Table, b: Table): readonly string[] {
  return Object.entries(b).flatMap(([key, value]) => {
    const mine = a[key]
    if (mine === undefined) return []
    if (!isTable(mine) || !isTable(value)) return [key]
    return takenKeys(mine, value).map((inner) => `${key}.${inner}`)
  })
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** Compares parsed values. The parser's objects have no prototype, so they are compared as plain JSON. */
export function isSameValue(a: unknown, b: unknown): boolean {
  const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))
  return isDeepStrictEqual(plain(a), plain(b))
}
