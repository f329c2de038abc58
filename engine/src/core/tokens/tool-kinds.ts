// What kind of tool a call is for, and which file it is about, as far as clearing and file reads ask. It looks at names and
// inputs only; whether a result may be cleared is decided elsewhere.
import { isObject, stringAt } from '../message/json.ts'
import { pathIn, type ToolJob, toolJob } from '../message/tool-names.ts'

/** Tools whose result can be had again, or is a mere confirmation. Every other tool has no kind. */
export type ToolKind = 'read' | 'shell' | 'grep' | 'glob' | 'web-fetch' | 'web-search' | 'edit' | 'write'

export type ToolCallLike = { readonly name: string; readonly input: unknown }

const kinds: Readonly<Partial<Record<ToolJob, ToolKind>>> = {
  read: 'read',
  shell: 'shell',
  grep: 'grep',
  glob: 'glob',
  'web-fetch': 'web-fetch',
  'web-search': 'web-search',
  edit: 'edit',
  patch: 'edit',
  write: 'write',
}

const editorCommands: ReadonlyMap<string | undefined, ToolKind> = new Map([
  ['view', 'read'],
  ['create', 'write'],
  ['str_replace', 'edit'],
  ['insert', 'edit'],
  ['undo_edit', 'edit'],
])

/** What the host says its tools are: `null` for a tool of no kind, whatever its name suggests. */
export type NamedKinds = Readonly<Record<string, ToolKind | null>>

/** The host's word first. Otherwise by the name, whoever serves it: a server's prefix (mcp__server__tool) is ignored. */
export function toolKind({ name, input }: ToolCallLike, named: NamedKinds = {}): ToolKind | undefined {
  if (Object.hasOwn(named, name)) return named[name] ?? undefined
  const job = toolJob(name.split('__').at(-1) ?? name)
  if (job === 'editor') return editorCommands.get(stringAt(input, 'command'))
  return job && kinds[job]
}

/** The same, spelled so that two requests for one file can be compared. */
export function pathOf(input: unknown): string | undefined {
  const path = pathIn(input)
  let start = 0
  while (path?.startsWith('./', start)) start += 2
  return path?.slice(start)
}

/** The files that an edit, a write or a patch changes. */
export function pathsChanged(call: ToolCallLike, named?: NamedKinds): readonly string[] {
  const kind = toolKind(call, named)
  if (kind !== 'edit' && kind !== 'write') return []
  const path = pathOf(call.input)
  return path === undefined ? pathsInPatch(call.input) : [path]
}

function pathsInPatch(input: unknown): readonly string[] {
  const texts = isObject(input) ? Object.values(input) : [input]
  const patch = texts.find((text) => typeof text === 'string' && text.includes('*** '))
  if (typeof patch !== 'string') return []
  return [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map((match) => (match[1] ?? '').trim())
}
