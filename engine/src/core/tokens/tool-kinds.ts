// The one place that knows how well-known agents spell their tools: what kind of tool a call is for, and which file it
// is about. It looks at names and inputs only; whether a result may be cleared is decided elsewhere.
import { isObject, stringAt } from '../message/json.ts'

/** Tools whose result can be had again, or is a mere confirmation. Every other tool has no kind. */
export type ToolKind = 'read' | 'shell' | 'grep' | 'glob' | 'web-fetch' | 'web-search' | 'edit' | 'write'

export type ToolCallLike = { readonly name: string; readonly input: unknown }

/** Spellings without capitals, digits and separators: Claude Code, pi, Codex, opencode, Gemini, Cline, Cursor, OpenHands. */
const spellings: Readonly<Record<ToolKind, readonly string[]>> = {
  read: ['read', 'readfile', 'readtextfile', 'readmanyfiles', 'view', 'viewfile', 'openfile', 'fsread', 'cat'],
  shell: [
    'bash',
    'shell',
    'shellcommand',
    'localshell',
    'containerexec',
    'execcommand',
    'executebash',
    'executecommand',
    'runcommand',
    'runshellcommand',
    'runterminalcmd',
    'powershell',
  ],
  grep: ['grep', 'grepsearch', 'ripgrep', 'searchfiles', 'searchfilecontent', 'codebasesearch'],
  glob: ['glob', 'find', 'findfiles', 'filesearch', 'ls', 'list', 'listdir', 'listdirectory', 'listfiles'],
  'web-fetch': ['webfetch', 'fetchurl'],
  'web-search': ['websearch', 'googlewebsearch'],
  edit: ['edit', 'editfile', 'multiedit', 'replace', 'replaceinfile', 'searchreplace', 'applypatch', 'patch', 'fsedit'],
  write: ['write', 'writefile', 'writetofile', 'createfile', 'fswrite'],
}

/** One tool for several jobs: its `command` says which. */
const editorTools = ['strreplacebasededittool', 'strreplaceeditor', 'editor']
const editorCommands: Readonly<Record<string, ToolKind>> = {
  view: 'read',
  create: 'write',
  str_replace: 'edit',
  insert: 'edit',
  undo_edit: 'edit',
}

const kindOf: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries(spellings).flatMap(([kind, names]) => names.map((name) => [name, kind as ToolKind] as const)),
)

/** The kind of tool, whoever serves it: the prefix of a server (mcp__server__tool) is not looked at. */
export function toolKind({ name, input }: ToolCallLike): ToolKind | undefined {
  const plain = (name.split('__').at(-1) ?? name).toLowerCase().replace(/[^a-z]/g, '')
  if (editorTools.includes(plain)) return editorCommands[stringAt(input, 'command') ?? '']
  return kindOf.get(plain)
}

const pathKeys = [
  'file_path',
  'path',
  'filename',
  'filePath',
  'file',
  'target_file',
  'absolute_path',
  'relative_path',
  'notebook_path',
]

/** The file or folder that a tool request names, as it is spelled there. */
export function pathIn(input: unknown): string | undefined {
  return pathKeys.map((key) => stringAt(input, key)).find((value) => value !== undefined && value !== '')
}

/** The same, spelled so that two requests for one file can be compared. */
export function pathOf(input: unknown): string | undefined {
  return pathIn(input)?.replace(/^(\.\/)+/, '')
}

/** The files that an edit, a write or a patch changes. */
export function pathsChanged(call: ToolCallLike): readonly string[] {
  const kind = toolKind(call)
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
