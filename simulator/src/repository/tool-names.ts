// Names of coding tools and of their inputs in different clients. The agent writes inputs with this table and the repository's
// tools read them with it, so they always agree.
import { isObject, objectAt, stringAt } from 'everlong/internal'
import type { ToolDefinition } from '../script/script.ts'

export type Tool = 'Read' | 'Grep' | 'Edit' | 'Write' | 'Bash' | 'TodoWrite'

const spellings: Readonly<Record<Tool, readonly string[]>> = {
  Read: ['read', 'readfile', 'view', 'viewfile', 'openfile'],
  Grep: ['grep', 'search', 'searchfiles', 'grepsearch', 'searchfilecontent', 'ripgrep'],
  Edit: ['edit', 'editfile', 'strreplace', 'replace', 'searchreplace'],
  Write: ['write', 'writefile', 'createfile', 'writetofile'],
  Bash: ['bash', 'shell', 'runcommand', 'executecommand', 'runshellcommand', 'runterminalcmd'],
  TodoWrite: ['todowrite', 'writetodos', 'updateplan', 'todos'],
}

/** The names of each input, the most common one first. */
const inputNames = {
  path: ['file_path', 'path', 'filePath', 'absolute_path', 'target_file'],
  old: ['old_string', 'old_str', 'oldString', 'old_text'],
  new: ['new_string', 'new_str', 'newString', 'new_text'],
  content: ['content', 'contents', 'file_text', 'text'],
  pattern: ['pattern', 'query', 'regex'],
  command: ['command', 'cmd'],
  todos: ['todos', 'plan', 'items'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>

export type InputName = keyof typeof inputNames

/** The tool that a name means. Ignores case, hyphens and underscores. */
export function toolNamed(name: string): Tool | undefined {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  for (const tool of Object.keys(spellings)) if (isTool(tool) && spellings[tool].includes(plain)) return tool
  return undefined
}

function isTool(name: string): name is Tool {
  return Object.hasOwn(spellings, name)
}

/** The known tools of a request by their meaning. If two have the same, the first counts. */
export function offeredTools(tools: readonly ToolDefinition[]): ReadonlyMap<Tool, ToolDefinition> {
  const offered = new Map<Tool, ToolDefinition>()
  for (const definition of tools) {
    const tool = toolNamed(definition.name)
    if (tool && !offered.has(tool)) offered.set(tool, definition)
  }
  return offered
}

/** The name of an input in this definition's schema, or the most common name if the schema has none. */
export function inputNameIn(definition: ToolDefinition, input: InputName): string {
  const properties = objectAt(definition.input_schema, 'properties')
  return inputNames[input].find((name) => properties && Object.hasOwn(properties, name)) ?? inputNames[input][0]
}

/** The value of an input under any of its names. */
export function stringInput(input: unknown, name: InputName): string | undefined {
  for (const spelling of inputNames[name]) {
    const value = stringAt(input, spelling)
    if (value !== undefined) return value
  }
  return undefined
}

export function listInput(input: unknown, name: InputName): readonly unknown[] {
  if (!isObject(input)) return []
  const found = inputNames[name].map((spelling) => input[spelling]).find(Array.isArray)
  return Array.isArray(found) ? found : []
}
