// Working tools for a generated repository in memory: the agent reads what it edited. Every misuse gives an error result with a
// reason, like real tools; nothing here throws or touches a disk.
import { isObject, numberAt } from 'everlong/internal'
import type { ToolDefinition } from '../script/script.ts'
import { grep } from './grep.ts'
import type { Repository } from './repository.ts'
import { shell } from './shell.ts'
import { listInput, stringInput, type Tool, toolNamed } from './tool-names.ts'
import { done, failed, pathIn, type ToolResult, type Workspace } from './workspace.ts'

export type RepositoryTools = {
  /** The definitions to offer in a request. */
  readonly definitions: readonly ToolDefinition[]
  readonly run: (name: string, input: unknown) => ToolResult
  /** The current files. */
  readonly files: ReadonlyMap<string, string>
}

/** Tools on a copy of the repository's files. The repository itself does not change. */
export function toolsOf(repository: Repository): RepositoryTools {
  const workspace: Workspace = { repository, files: new Map(repository.files), testRuns: 0 }
  return {
    definitions,
    files: workspace.files,
    run: (name, input) => {
      const tool = toolNamed(name)
      if (!tool) return failed(`No such tool available: ${name}`)
      if (!isObject(input)) return failed(`InputValidationError: ${name} takes an object.`)
      return runners[tool](workspace, input)
    },
  }
}

const runners: Readonly<Record<Tool, (workspace: Workspace, input: unknown) => ToolResult>> = {
  Read: read,
  Grep: grep,
  Edit: edit,
  Write: write,
  Bash: shell,
  TodoWrite: (_workspace, input) => done(`Todos have been saved: ${listInput(input, 'todos').length} items.`),
}

const maxReading = 2_000
const maxLine = 2_000

function read(workspace: Workspace, input: unknown): ToolResult {
  const path = stringInput(input, 'path')
  if (path === undefined) return failed('InputValidationError: Read needs a file_path.')
  const content = workspace.files.get(pathIn(workspace.repository, path))
  if (content === undefined) return failed(`File does not exist: ${path}`)
  const lines = content.replace(/\n$/, '').split('\n')
  const first = Math.max(1, numberAt(input, 'offset') ?? 1)
  const limit = Math.min(maxReading, Math.max(1, numberAt(input, 'limit') ?? maxReading))
  const shown = lines.slice(first - 1, first - 1 + limit)
  if (content === '' || shown.length === 0) return done(`The file has ${content === '' ? 0 : lines.length} lines.`)
  return done(numbered(shown, first))
}

function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${line.slice(0, maxLine)}`).join('\n')
}

function edit(workspace: Workspace, input: unknown): ToolResult {
  const named = stringInput(input, 'path')
  const old = stringInput(input, 'old')
  const replacement = stringInput(input, 'new')
  if (named === undefined || old === undefined || replacement === undefined) {
    return failed('InputValidationError: Edit needs a file_path, an old_string and a new_string.')
  }
  const path = pathIn(workspace.repository, named)
  const content = workspace.files.get(path)
  if (content === undefined) return failed(`File does not exist: ${named}`)
  if (old === replacement) return failed('No changes to make: old_string and new_string are exactly the same.')
  const count = old === '' ? 0 : content.split(old).length - 1
  if (count === 0) return failed(`String to replace not found in file.\nString: ${old}`)
  const everywhere = isObject(input) && input.replace_all === true
  if (count > 1 && !everywhere)
    return failed(`Found ${count} matches of the string to replace, but replace_all is false.`)
  const at = content.indexOf(old)
  const changed = content.split(old).join(replacement)
  workspace.files.set(path, changed)
  return done(`The file ${named} has been updated:\n${snippet(changed, at)}`)
}

/** The lines around a place in a text, as a reader would see them. */
function snippet(content: string, at: number): string {
  const line = content.slice(0, at).split('\n').length
  const first = Math.max(1, line - 4)
  return numbered(content.split('\n').slice(first - 1, line + 4), first)
}

function write(workspace: Workspace, input: unknown): ToolResult {
  const path = stringInput(input, 'path')
  const content = stringInput(input, 'content')
  if (!path || content === undefined) return failed('InputValidationError: Write needs a file_path and content.')
  const inside = pathIn(workspace.repository, path)
  const existed = workspace.files.has(inside)
  workspace.files.set(inside, content)
  return done(existed ? `The file ${path} has been updated.` : `File created successfully at: ${path}`)
}

const definitions: readonly ToolDefinition[] = [
  {
    name: 'Read',
    description: 'Reads a file, with line numbers.',
    input_schema: schema({ file_path: 'string' }, { offset: 'number', limit: 'number' }),
  },
  {
    name: 'Grep',
    description: 'Searches the contents of files by regular expression.',
    input_schema: schema(
      { pattern: 'string' },
      { path: 'string', glob: 'string', output_mode: 'string', '-i': 'boolean', head_limit: 'number' },
    ),
  },
  {
    name: 'Edit',
    description: 'Replaces an exact string in a file.',
    input_schema: schema(
      { file_path: 'string', old_string: 'string', new_string: 'string' },
      { replace_all: 'boolean' },
    ),
  },
  {
    name: 'Write',
    description: 'Writes a whole file.',
    input_schema: schema({ file_path: 'string', content: 'string' }),
  },
  {
    name: 'Bash',
    description: 'Runs a shell command.',
    input_schema: schema({ command: 'string' }, { description: 'string' }),
  },
  {
    name: 'TodoWrite',
    description: 'Keeps the list of what is to be done.',
    input_schema: schema({ todos: 'array' }),
  },
]

type Types = Readonly<Record<string, string>>

function schema(needed: Types, others: Types = {}): unknown {
  const properties = Object.fromEntries(Object.entries({ ...needed, ...others }).map(([key, type]) => [key, { type }]))
  return { type: 'object', properties, required: Object.keys(needed) }
}
