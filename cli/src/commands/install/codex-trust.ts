// Codex records in config.toml which hooks the person trusts: [hooks.state."CONFIG:pre_compact:0:0"]. Removes entries about our
// removed hooks. Nothing else in the text changes.
import { parse } from 'smol-toml'
import { isSameValue } from './edit-toml.ts'

type Table = { readonly [key: string]: unknown }

/** `events`: the names of our hooks' events in the file. Returns the text unchanged if in doubt. */
export function withoutTrust(text: string, path: string, events: readonly string[]): string {
  const hooks = tableAt(parse(text.replace(/^\ufeff/, '')), 'hooks')
  const state = tableAt(hooks, 'state')
  const gone = events.filter((event) => hooks[event] === undefined).map((event) => `${path}:${snake(event)}:`)
  const keys = Object.keys(state).filter((key) => gone.some((start) => key.startsWith(start)))
  if (keys.length === 0) return text
  const left = Object.fromEntries(Object.entries(state).filter(([key]) => !keys.includes(key)))
  const cut = keys.reduce(withoutTable, text)
  // The table around them also belongs to Codex. It may remain, or never have existed.
  const isEmpty = Object.keys(left).length === 0
  const wanted = [left, ...(isEmpty ? [undefined] : [])].map((each) => withState(text, each))
  const shortest = isEmpty ? withoutHeader(cut) : cut
  return wanted.some((each) => isSameValue(parse(shortest.replace(/^\ufeff/, '')), each)) ? shortest : text
}

/** The header of the entry and the lines up to the next table, with the empty lines before it. */
function withoutTable(text: string, key: string): string {
  return removeTable(text, (header) => isEntry(header, key))
}

function withoutHeader(text: string): string {
  return removeTable(text, (header) => /^\[\s*hooks\s*\.\s*state\s*\]/.test(header))
}

function removeTable(text: string, isWanted: (header: string) => boolean): string {
  const lines = text.split(/(?<=\n)/)
  const start = lines.findIndex((line) => isWanted(line.trim()))
  if (start < 0) return text
  const next = lines.findIndex((line, at) => at > start && line.trimStart().startsWith('['))
  const before = lines.slice(0, start)
  while (before.at(-1)?.trim() === '') before.pop()
  const after = next < 0 ? [] : lines.slice(next)
  // One empty line is left between the tables that become neighbors.
  const gap =
    before.length > 0 && after.length > 0 ? [lines[start - 1]?.trim() === '' ? (lines[start - 1] ?? '') : ''] : []
  return [...before, ...gap, ...after].join('')
}

function isEntry(header: string, key: string): boolean {
  if (!header.startsWith('[')) return false
  try {
    const state = tableAt(tableAt(parse(header), 'hooks'), 'state')
    return Object.keys(state).length === 1 && Object.hasOwn(state, key)
  } catch {
    // A line of a longer string may look like a header.
    return false
  }
}

function withState(text: string, state: Table | undefined): Table {
  const all = parse(text.replace(/^\ufeff/, ''))
  const { state: _, ...others } = tableAt(all, 'hooks')
  if (state !== undefined) return { ...all, hooks: { ...others, state } }
  const { hooks: __, ...rest } = all
  return Object.keys(others).length === 0 ? rest : { ...rest, hooks: others }
}

function tableAt(table: Table, key: string): Table {
  const value = table[key]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : {}
}

/** `PreCompact` is `pre_compact` in the keys of the state. */
function snake(event: string): string {
  return event.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
}
