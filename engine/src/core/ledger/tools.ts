// What a call does, and to what, as the ledger sees it. An unknown tool is judged by its input, so that tools nobody has
// heard of still leave their paths and commands.
import { arrayAt, isObject, numberAt, objectAt, stringAt, stringsAt } from '../message/json.ts'
import { type ToolJob, toolJob } from '../message/tool-names.ts'
import type { Lines, Todo, TodoStatus } from './facts.ts'

export type ToolKind =
  | 'read'
  | 'edit'
  | 'write'
  | 'patch'
  | 'search'
  | 'command'
  | 'fetch'
  | 'todo'
  | 'agent'
  | 'ask'
  | 'other'

const kinds: Readonly<Record<ToolJob, ToolKind>> = {
  read: 'read',
  'read-notebook': 'read',
  'view-image': 'read',
  shell: 'command',
  grep: 'search',
  glob: 'search',
  outline: 'search',
  'web-fetch': 'fetch',
  'web-search': 'fetch',
  edit: 'edit',
  'edit-notebook': 'edit',
  patch: 'patch',
  editor: 'edit',
  write: 'write',
  todo: 'todo',
  agent: 'agent',
  ask: 'ask',
}

export function toolKind(name: string, input: unknown): ToolKind {
  const job = toolJob(name)
  const known = job && kinds[job]
  if (known === 'edit') return editorKind(input)
  if (known) return known
  if (commandOf(input) !== '') return 'command'
  if (stringAt(input, 'url') !== undefined) return 'fetch'
  return 'other'
}

/** Editors with many commands: one of them only looks, one makes a file. */
function editorKind(input: unknown): ToolKind {
  const command = stringAt(input, 'command')
  if (command === 'view') return 'read'
  return command === 'create' ? 'write' : 'edit'
}

/** A script longer than this is a file's content; what it does stands at its start. */
const longestCommand = 6000

/** The command line of a call; words of an argument list are joined, and a shell around the script is left out. */
export function commandOf(input: unknown): string {
  return wholeCommand(input).slice(0, longestCommand)
}

function wholeCommand(input: unknown): string {
  const text = stringAt(input, 'command') ?? stringAt(input, 'cmd') ?? stringAt(input, 'script')
  if (text !== undefined) return text
  const words = stringsAt(input, 'command').length > 0 ? stringsAt(input, 'command') : stringsAt(input, 'cmd')
  const isShell =
    words.length >= 3 && /(?:^|\/)(?:ba|z|da|k)?sh$/.test(words[0] ?? '') && /^-\w*c$/.test(words[1] ?? '')
  return isShell ? (words[2] ?? '') : words.join(' ')
}

export function patchOf(input: unknown): string {
  return stringAt(input, 'input') ?? stringAt(input, 'patch') ?? (typeof input === 'string' ? input : '')
}

export function urlOf(input: unknown): string | undefined {
  return stringAt(input, 'url')
}

/** The lines a read asked for, when it did not ask for all. */
export function askedLines(input: unknown): Lines | undefined {
  const from = numberAt(input, 'offset') ?? numberAt(input, 'start_line') ?? numberAt(input, 'startLine')
  const to = numberAt(input, 'end_line') ?? numberAt(input, 'endLine')
  const limit = numberAt(input, 'limit')
  if (from === undefined && limit === undefined && to === undefined) return undefined
  const first = Math.max(1, from ?? 1)
  return [first, to ?? first + (limit ?? 2000) - 1]
}

export type PatchedFile = { readonly path: string; readonly act: 'edited' | 'created' | 'deleted' }

/** The files of an apply_patch envelope, or of a unified diff. */
export function patchedFiles(patch: string): readonly PatchedFile[] {
  const files: PatchedFile[] = []
  for (const [, verb, path] of patch.matchAll(/^\*\*\* (Add|Update|Delete) File: (.+)$/gm)) {
    const act = verb === 'Add' ? 'created' : verb === 'Delete' ? 'deleted' : 'edited'
    if (path) files.push({ path: path.trim(), act })
  }
  if (files.length > 0) return files
  return [...patch.matchAll(/^\+\+\+ (?:b\/)?(\S+)/gm)].map(([, path]) => ({ path: path ?? '', act: 'edited' }))
}

/** A whole list that replaces the one before, or a change to one item of it. */
export type TodoChange =
  | { readonly type: 'list-replaced'; readonly todos: readonly Todo[] }
  | { readonly type: 'item-added'; readonly text: string }
  | {
      readonly type: 'item-changed'
      readonly id: string
      readonly text?: string
      readonly status?: TodoStatus | 'gone'
    }

export function todoChange(input: unknown): TodoChange | undefined {
  const items = [...arrayAt(input, 'todos'), ...arrayAt(input, 'plan')].filter(isObject)
  const isList = isObject(input) && (Array.isArray(input.todos) || Array.isArray(input.plan))
  if (isList) return { type: 'list-replaced', todos: items.map(readTodo) }
  const id = stringAt(input, 'taskId') ?? stringAt(input, 'id')
  const text = stringAt(input, 'subject') ?? stringAt(input, 'title')
  if (id === undefined) return text === undefined ? undefined : { type: 'item-added', text }
  const status = stringAt(input, 'status')
  return {
    type: 'item-changed',
    id,
    ...(text === undefined ? {} : { text }),
    ...(status === undefined ? {} : { status: status === 'deleted' ? 'gone' : todoStatus(status) }),
  }
}

function readTodo(item: unknown, index: number): Todo {
  return {
    id: stringAt(item, 'id') ?? String(index + 1),
    text:
      stringAt(item, 'content') ?? stringAt(item, 'step') ?? stringAt(item, 'subject') ?? stringAt(item, 'text') ?? '',
    status: todoStatus(stringAt(item, 'status')),
  }
}

function todoStatus(status: string | undefined): TodoStatus {
  if (/complete|done/.test(status ?? '')) return 'done'
  return /progress|active/.test(status ?? '') ? 'in-progress' : 'pending'
}

/** The id that a client gave to a new task, from the raw result. */
export function newTodoId(raw: unknown): string | undefined {
  const task = objectAt(raw, 'task')
  return stringAt(task, 'id') ?? numberAt(task, 'id')?.toString()
}
