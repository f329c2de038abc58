// Turns a tool call of any agent into one typed value. A field that is missing or of the wrong type is absent. For a new
// agent, add the names of its tools to the rows of `names`, and other fields to the lists of keys.
import { arrayAt, defined, isObject, numberAt, stringAt, stringsAt } from '../message/json.ts'
import { type PatchedFile, readPatch, type TextEdit } from './patch.ts'

/** Case, digits and separators do not matter. An editor does several jobs: its `command` says which. */
const names = {
  read: 'Read read_file read_many_files read_text_file view view_file open_file fs_read cat',
  'read-notebook': 'NotebookRead',
  'view-image': 'view_image',
  write: 'Write write_file write_to_file create_file fs_write',
  edit: 'Edit MultiEdit edit_file replace replace_in_file search_replace search_and_replace insert_content apply_diff fs_edit',
  'edit-notebook': 'NotebookEdit',
  editor: 'str_replace_based_edit_tool str_replace_editor editor',
  patch: 'apply_patch patch',
  shell:
    'Bash PowerShell shell shell_command local_shell local_shell_call container.exec exec_command execute_bash execute_command run_command run_shell_command run_terminal_cmd',
  grep: 'Grep grep_search ripgrep search_files search_file_content codebase_search',
  glob: 'Glob LS list list_dir list_directory list_files find find_files file_search',
  outline: 'list_code_definition_names',
  'web-fetch': 'WebFetch fetch_url',
  'web-search': 'WebSearch google_web_search',
  todo: 'TodoWrite TaskCreate TaskUpdate TaskList update_plan write_todos update_todo_list',
  'enter-plan': 'EnterPlanMode',
  'exit-plan': 'ExitPlanMode',
  question: 'AskUserQuestion ask_followup_question ask_user question',
  agent: 'Task Agent spawn_agent new_task',
  skill: 'Skill',
} as const

export type ToolJob = keyof typeof names

/** Maps `read_file`, `ReadFile` and `readFile` to one name, and also `bash` and `bash_20250124`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}

/** Has each name as written, for speed, and in its plain form. */
const jobs: ReadonlyMap<string, ToolJob> = new Map(
  Object.entries(names).flatMap(([job, row]) =>
    row.split(' ').flatMap((name) => [name, plain(name)].map((key) => [key, job as ToolJob] as const)),
  ),
)

/** An MCP server may choose any name for a tool, so its tools never speak for the user or the agent. */
const notForServers: ReadonlySet<ToolJob> = new Set(['todo', 'enter-plan', 'exit-plan', 'question', 'agent', 'skill'])

/** Judges only by name, without the prefix of an MCP server (`mcp__server__tool`). */
export function toolJob(name: string): ToolJob | undefined {
  const job = jobs.get(name) ?? jobs.get(plain(name.split('__').at(-1) ?? name))
  return job !== undefined && isFromServer(name) && notForServers.has(job) ? undefined : job
}

export function isFromServer(name: string): boolean {
  return name.includes('__')
}

export const toolKinds = ['read', 'shell', 'grep', 'glob', 'web-fetch', 'web-search', 'edit', 'write'] as const

/** Kinds of tools whose result can be had again or only confirms an action, named as in the `toolKinds` setting. */
export type ToolKind = (typeof toolKinds)[number]

/** Kinds of tools as set by the host. Null for a tool whose name is misleading. */
export type NamedKinds = Readonly<Record<string, ToolKind | null>>

/** A range of lines. Both ends are included. */
export type Lines = readonly [from: number, to: number]

export type ToolCall = {
  readonly name: string
  /** Absent for unknown tools and for tools whose result cannot be had again. */
  readonly kind?: ToolKind
  /** The file or folder that the call names, without a leading `./`. */
  readonly path?: string
} & (
  | { readonly type: 'read'; readonly lines: Lines }
  | { readonly type: 'write'; readonly text?: string }
  | { readonly type: 'edit'; readonly edits: readonly TextEdit[] }
  | { readonly type: 'patch'; readonly files: readonly PatchedFile[] }
  | { readonly type: 'command'; readonly script: string }
  | { readonly type: 'search'; readonly query?: string }
  | { readonly type: 'fetch'; readonly url?: string; readonly query?: string }
  | { readonly type: 'todo'; readonly change?: TodoChange }
  | { readonly type: 'plan'; readonly act: 'enter' | 'exit'; readonly text?: string }
  | { readonly type: 'question' }
  | { readonly type: 'agent'; readonly task?: string; readonly agentType?: string }
  | { readonly type: 'skill'; readonly skill?: string }
  | { readonly type: 'other' }
)

export type CallLike = { readonly name: string; readonly input: unknown }

/** The host's setting decides first. A tool with an unknown name is judged by its input and has no kind. */
export function toolCall({ name, input }: CallLike, named: NamedKinds = {}): ToolCall {
  const isNamed = Object.hasOwn(named, name)
  const job = isNamed ? (named[name] ?? undefined) : toolJob(name)
  const path = pathIn(input)
  const details = job !== undefined ? detailsOf(job, input) : isNamed ? ({ type: 'other' } as const) : guessed(input)
  const kind = job === undefined ? undefined : kindOf(job, details)
  return {
    name,
    ...(path === undefined ? {} : { path }),
    ...details,
    ...(kind === undefined ? {} : { kind }),
  }
}

/** Notebooks, images and outlines must not be cleared. */
function kindOf(job: ToolJob, { type }: Details): ToolKind | undefined {
  const own = job === 'editor' ? type : job === 'patch' ? 'edit' : job
  return toolKinds.find((kind) => kind === own)
}

export function pathsOf(call: ToolCall): readonly string[] {
  const patched = call.type === 'patch' ? call.files.map(({ path }) => path) : []
  return [...new Set([...(call.path === undefined ? [] : [call.path]), ...patched])]
}

export function changedBy(call: ToolCall): readonly string[] {
  return call.type === 'write' || call.type === 'edit' || call.type === 'patch' ? pathsOf(call) : []
}

/** Two spellings of a path below the root have the same key. */
export function pathKey(path: string, root: string | undefined): string {
  const plain = path.replace(/^(?:\.\/)+/, '')
  if (root === undefined || root === '') return plain
  const folder = root.endsWith('/') || root.endsWith('\\') ? root : `${root}${root.includes('\\') ? '\\' : '/'}`
  return plain.startsWith(folder) ? plain.slice(folder.length) : plain
}

type Details = ToolCall extends infer Call
  ? Call extends ToolCall
    ? Omit<Call, 'name' | 'kind' | 'path'>
    : never
  : never

function guessed(input: unknown): Details {
  const script = scriptIn(input)
  if (script !== '') return commandDetails(script)
  const url = stringAt(input, 'url')
  return url === undefined ? { type: 'other' } : { type: 'fetch', url }
}

function detailsOf(job: ToolJob, input: unknown): Details {
  switch (job) {
    case 'read':
    case 'read-notebook':
    case 'view-image':
      return { type: 'read', lines: linesIn(input) }
    case 'write':
      return { type: 'write', ...defined({ text: firstString(input, writtenKeys) }) }
    case 'edit':
    case 'edit-notebook':
    case 'editor':
      return editorDetails(job, input)
    case 'patch':
      return { type: 'patch', files: readPatch(patchIn(input) ?? '') }
    case 'shell':
      return commandDetails(scriptIn(input))
    case 'grep':
    case 'glob':
    case 'outline':
      return { type: 'search', ...defined({ query: firstString(input, queryKeys) }) }
    case 'web-fetch':
    case 'web-search':
      return { type: 'fetch', ...defined({ url: stringAt(input, 'url'), query: firstString(input, queryKeys) }) }
    case 'todo':
      return { type: 'todo', ...defined({ change: readTodos(input) }) }
    case 'enter-plan':
      return { type: 'plan', act: 'enter' }
    case 'exit-plan':
      return { type: 'plan', act: 'exit', ...defined({ text: stringAt(input, 'plan') }) }
    case 'question':
      return { type: 'question' }
    case 'agent':
      return {
        type: 'agent',
        ...defined({ task: stringAt(input, 'description'), agentType: stringAt(input, 'subagent_type') }),
      }
    case 'skill':
      return { type: 'skill', ...defined({ skill: firstString(input, ['skill', 'name']) }) }
  }
}

/** Editors have one tool for several jobs; `command` selects the job. */
function editorDetails(job: ToolJob, input: unknown): Details {
  const command = stringAt(input, 'command')
  if (command === 'view') return { type: 'read', lines: linesIn(input) }
  if (command === 'create') return { type: 'write', ...defined({ text: firstString(input, writtenKeys) }) }
  const isEdit = command === undefined || ['str_replace', 'insert', 'undo_edit'].includes(command)
  if (job === 'editor' && (command === undefined || !isEdit)) return { type: 'other' }
  const patch = pathIn(input) === undefined ? patchIn(input) : undefined
  return patch === undefined ? { type: 'edit', edits: editsIn(input) } : { type: 'patch', files: readPatch(patch) }
}

/** Codex also runs apply_patch through its shell. With anything after the patch, it counts as a command. */
function commandDetails(script: string): Details {
  const isPatch = /^\s*(?:cd\s+\S+\s*&&\s*)?apply_patch\b/.test(script)
  const end = isPatch ? script.lastIndexOf(patchEnd) : -1
  if (end >= 0 && /^["']?\s*\w{0,20}["']?\s*$/.test(script.slice(end + patchEnd.length))) {
    return { type: 'patch', files: readPatch(script.slice(0, end)) }
  }
  return { type: 'command', script: script.slice(0, maxScriptLength) }
}

const patchEnd = '*** End Patch'
/** A longer script says at its start what it does; the rest is usually the content of files. */
const maxScriptLength = 20_000

const writtenKeys = ['content', 'file_text', 'contents']
const queryKeys = ['pattern', 'query', 'regex']
const pathKeys = 'file_path path filename filePath file target_file absolute_path relative_path notebook_path'.split(
  ' ',
)

function pathIn(input: unknown): string | undefined {
  const path = firstString(input, pathKeys)
  let start = 0
  while (path?.startsWith('./', start)) start += 2
  return path?.slice(start)
}

/** Joins an argument list, and removes a shell around the script. */
function scriptIn(input: unknown): string {
  const text = firstString(input, ['command', 'cmd', 'script'])
  if (text !== undefined) return text
  const words = [stringsAt(input, 'command'), stringsAt(input, 'cmd')].find(({ length }) => length > 0) ?? []
  const [shell = '', flag = '', script] = words
  const isShell = /(?:^|\/)(?:ba|z|da|k)?sh$/.test(shell) && /^-\w*c$/.test(flag)
  return isShell && script !== undefined ? script : words.join(' ')
}

/** Recognizes a patch by its file heading, whatever the field is called. */
function patchIn(input: unknown): string | undefined {
  const texts = isObject(input) ? Object.values(input).flat() : [input]
  const isPatch = (text: unknown) => typeof text === 'string' && /^\*\*\* \w+ File: |^\+\+\+ /m.test(text)
  return texts.find((text): text is string => isPatch(text))
}

const beforeKeys = ['old_string', 'old_str', 'oldText', 'oldString', 'search']
const afterKeys = ['new_string', 'new_str', 'newText', 'newString', 'replace', 'insert_text', 'code_edit', 'new_source']

function editsIn(input: unknown): readonly TextEdit[] {
  const several = arrayAt(input, 'edits').filter(isObject)
  return (several.length > 0 ? several : [input]).flatMap((edit) => {
    // An empty text counts, because it replaces deleted text.
    const [before, after] = [beforeKeys, afterKeys].map((keys) => firstAt(keys, (key) => stringAt(edit, key)))
    if (before === undefined && after === undefined) return []
    const isAll = isObject(edit) && (edit.replace_all === true || edit.replaceAll === true)
    return [{ before: before ?? '', after: after ?? '', isAll }]
  })
}

const firstLineKeys = ['offset', 'start_line', 'startLine', 'line_start', 'start_line_one_indexed']
const lastLineKeys = ['end_line', 'endLine', 'line_end', 'end_line_one_indexed_inclusive']

/** The last line is Infinity if the read goes to the end. */
function linesIn(input: unknown): Lines {
  const [first, last] = arrayAt(input, 'view_range').filter((line) => typeof line === 'number')
  // Some tools count from 0, others from 1, so both mean the first line.
  const firstNumber = (keys: readonly string[]) => firstAt(keys, (key) => numberAt(input, key))
  const from = Math.max(1, first ?? firstNumber(firstLineKeys) ?? 1)
  const limit = numberAt(input, 'limit')
  const to = last ?? firstNumber(lastLineKeys) ?? (limit === undefined ? undefined : from + limit - 1)
  return [from, to === undefined || to < 0 ? Number.POSITIVE_INFINITY : to]
}

function firstString(input: unknown, keys: readonly string[]): string | undefined {
  return firstAt(keys, (key) => stringAt(input, key) || undefined)
}

function firstAt<T>(keys: readonly string[], at: (key: string) => T | undefined): T | undefined {
  for (const key of keys) {
    const found = at(key)
    if (found !== undefined) return found
  }
  return undefined
}

export type TodoStatus = 'pending' | 'in-progress' | 'done'
export type Todo = { readonly id: string; readonly text: string; readonly status: TodoStatus }

export type TodoChange =
  | { readonly type: 'list-replaced'; readonly todos: readonly Todo[] }
  | { readonly type: 'item-added'; readonly text: string }
  | {
      readonly type: 'item-changed'
      readonly id: string
      readonly text?: string
      readonly status?: TodoStatus | 'gone'
    }

export function readTodos(input: unknown): TodoChange | undefined {
  const items = isObject(input) ? [input.todos, input.plan].find(Array.isArray) : undefined
  if (items) return { type: 'list-replaced', todos: listedTodos(items) }
  const id = stringAt(input, 'taskId') ?? stringAt(input, 'id')
  const subject = stringAt(input, 'subject') ?? stringAt(input, 'title')
  if (id === undefined) return subject === undefined ? undefined : { type: 'item-added', text: subject }
  const status = stringAt(input, 'status')
  const changed = status === undefined ? undefined : status === 'deleted' ? ('gone' as const) : statusOf(status)
  return { type: 'item-changed', id, ...defined({ text: subject, status: changed }) }
}

const textKeys = ['content', 'step', 'subject', 'text', 'description']

export function listedTodos(items: readonly unknown[]): readonly Todo[] {
  return items.filter(isObject).map((item, index) => ({
    id: stringAt(item, 'id') ?? String(numberAt(item, 'id') ?? index + 1),
    text: textKeys.map((key) => stringAt(item, key)).find((text) => text !== undefined) ?? '',
    status: statusOf(stringAt(item, 'status')),
  }))
}

function statusOf(status: string | undefined): TodoStatus {
  if (/complete|done/.test(status ?? '')) return 'done'
  return /progress|active/.test(status ?? '') ? 'in-progress' : 'pending'
}
