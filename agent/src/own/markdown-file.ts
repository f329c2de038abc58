// Markdown files with a head between lines of `---`: skills, commands and agents.
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { isWithin } from '../files/paths.ts'

export type Head = Readonly<Record<string, string | undefined>>

const maxFileBytes = 256 * 1024

/** The lines of a head that are `key: value`; a value may continue on indented lines. Undefined without a head. */
export function headOf(text: string): Head | undefined {
  const [, head] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(text) ?? []
  if (head === undefined) return undefined
  const values = new Map<string, string>()
  let key = ''
  for (const line of head.split(/\r?\n/)) {
    const [, name, value = ''] = /^([\w-]+):[ \t]*(.*)$/.exec(line) ?? []
    if (name !== undefined) {
      key = name
      values.set(name, unquoted(/^[>|][+-]?$/.test(value.trim()) ? '' : value.trim()))
    } else if (/^\s/.test(line) && key !== '') values.set(key, `${values.get(key)} ${line.trim()}`.trim())
  }
  return Object.fromEntries(values)
}

export function bodyOf(text: string): string {
  return text.replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---(?:\r?\n|$)/, '').trim()
}

function unquoted(value: string): string {
  return /^(["']).*\1$/.test(value) ? value.slice(1, -1) : value
}

export type MarkdownFile = {
  readonly path: string
  /** Below the folder, without `.md`: `git/commit`. */
  readonly name: string
  readonly head: Head
  readonly body: string
}

export type Found<T> = { readonly found: readonly T[]; readonly problems: readonly string[] }

/** The `.md` files of a folder and its subfolders, by name. Skips installed packages, which have other kinds of files. */
export function markdownFiles(folder: string): Found<MarkdownFile> {
  if (!existsSync(folder)) return { found: [], problems: [] }
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.split(sep).includes('node_modules'),
  )
  const read = names.toSorted().map((name) => readMarkdown(folder, name))
  return {
    found: read.flatMap((each) => (typeof each === 'string' ? [] : [each])),
    problems: read.flatMap((each) => (typeof each === 'string' ? [each] : [])),
  }
}

/** Returns a string with the reason if it cannot be read. */
function readMarkdown(folder: string, name: string): MarkdownFile | string {
  const path = join(folder, name)
  const state = statSync(path, { throwIfNoEntry: false })
  if (!state?.isFile()) return `${path}: it is not a file`
  // A folder of somebody else may contain a link to anything.
  if (!isWithin(realpathSync(folder), realpathSync(path))) return `${path}: a link leads out of the folder`
  if (state.size > maxFileBytes) return `${path}: it is larger than 256 KB`
  const text = readFileSync(path, 'utf8')
  return {
    path,
    name: name.slice(0, -'.md'.length).replaceAll('\\', '/'),
    head: headOf(text) ?? {},
    body: bodyOf(text),
  }
}

/** If several have one name, the one in the earlier folder counts. */
export function byName<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
  const named = new Map<string, T>()
  for (const each of all) if (!named.has(each.name)) named.set(each.name, each)
  return [...named.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
