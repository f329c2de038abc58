// A call of each tool with its result: the text for the model, and the raw result that the client stores with it.
import type { JsonObject } from '../../core/message/json.ts'

export type ToolCall = {
  readonly name: string
  readonly input: JsonObject
  readonly content: string | readonly JsonObject[]
  readonly toolUseResult: unknown
  readonly isError: boolean
}

export type FileText = { readonly path: string; readonly content: string }
export type Todo = {
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
  readonly activeForm: string
}

function done(name: string, input: JsonObject, result: Pick<ToolCall, 'content' | 'toolUseResult'>): ToolCall {
  return { name, input, ...result, isError: false }
}

export function readCall({ path: filePath, content }: FileText): ToolCall {
  const result = {
    content: numbered(content),
    toolUseResult: { type: 'text', file: fileRecord({ path: filePath, content }) },
  }
  return done('Read', { file_path: filePath }, result)
}

/** A whole file as stored in results and attachments. */
export function fileRecord({ path: filePath, content }: FileText): JsonObject {
  const numLines = content.split('\n').length
  return { filePath, content, numLines, startLine: 1, totalLines: numLines }
}

function numbered(content: string): string {
  const lines = content.split('\n')
  return lines.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`).join('\n')
}

export function imageCall(filePath: string, base64: string): ToolCall {
  const source = { type: 'base64', media_type: 'image/png', data: base64 }
  const dimensions = { originalWidth: 1280, originalHeight: 800, displayWidth: 1280, displayHeight: 800 }
  const file = { base64, type: 'image/png', originalSize: Math.floor(base64.length * 0.75), dimensions }
  const result = { content: [{ type: 'image', source }], toolUseResult: { type: 'image', file } }
  return done('Read', { file_path: filePath }, result)
}

export function bashCall(command: string, description: string, stdout: string): ToolCall {
  const raw = { stdout, stderr: '', interrupted: false, isImage: false }
  return done('Bash', { command, description }, { content: stdout, toolUseResult: raw })
}

export function failedBashCall(command: string, description: string, output: string): ToolCall {
  const content = `Exit code 1\n${output}`
  return { name: 'Bash', input: { command, description }, content, toolUseResult: `Error: ${content}`, isError: true }
}

export type Replacement = { readonly oldString: string; readonly newString: string }

/** Replaces the first occurrence. */
export function editCall(file: FileText, { oldString, newString }: Replacement): ToolCall {
  const { path: filePath, content: originalFile } = file
  const before = originalFile.slice(0, Math.max(0, originalFile.indexOf(oldString))).split('\n').length
  const [oldLines, newLines] = [oldString.split('\n'), newString.split('\n')]
  const lines = [...oldLines.map((line) => `-${line}`), ...newLines.map((line) => `+${line}`)]
  const hunk = { oldStart: before, oldLines: oldLines.length, newStart: before, newLines: newLines.length, lines }
  const flags = { userModified: false, replaceAll: false }
  const raw = { filePath, oldString, newString, originalFile, structuredPatch: [hunk], ...flags }
  const input = { file_path: filePath, old_string: oldString, new_string: newString, replace_all: false }
  const content = `The file ${filePath} has been updated.\n${numbered(newString)}`
  return done('Edit', input, { content, toolUseResult: raw })
}

export function failedEditCall(filePath: string, { oldString, newString }: Replacement): ToolCall {
  const why = 'String to replace not found in file.'
  const input = { file_path: filePath, old_string: oldString, new_string: newString, replace_all: false }
  const content = `<tool_use_error>${why}</tool_use_error>`
  return { name: 'Edit', input, content, toolUseResult: `Error: ${why}`, isError: true }
}

export function writeCall({ path: filePath, content }: FileText): ToolCall {
  const raw = { type: 'create', filePath, content, structuredPatch: [], originalFile: null }
  const said = `File created successfully at: ${filePath}`
  return done('Write', { file_path: filePath, content }, { content: said, toolUseResult: raw })
}

export function grepFilesCall(pattern: string, filenames: readonly string[]): ToolCall {
  const raw = { mode: 'files_with_matches', filenames, numFiles: filenames.length }
  const content = `Found ${filenames.length} files\n${filenames.join('\n')}`
  return done('Grep', { pattern, output_mode: 'files_with_matches' }, { content, toolUseResult: raw })
}

export function grepCall(pattern: string, content: string): ToolCall {
  const raw = { mode: 'content', numFiles: 0, filenames: [], content, numLines: content.split('\n').length }
  return done('Grep', { pattern, output_mode: 'content', '-n': true }, { content, toolUseResult: raw })
}

export function globCall(pattern: string, filenames: readonly string[]): ToolCall {
  const raw = { filenames, durationMs: 12, numFiles: filenames.length, truncated: false }
  return done('Glob', { pattern }, { content: filenames.join('\n'), toolUseResult: raw })
}

export function todoCall(oldTodos: readonly Todo[], newTodos: readonly Todo[]): ToolCall {
  const content = 'Todos have been modified successfully. Go on with the task in hand.'
  return done('TodoWrite', { todos: newTodos }, { content, toolUseResult: { oldTodos, newTodos } })
}

export function webFetchCall(url: string, prompt: string, result: string): ToolCall {
  const raw = { bytes: result.length * 9, code: 200, codeText: 'OK', result, durationMs: 840, url }
  return done('WebFetch', { url, prompt }, { content: result, toolUseResult: raw })
}

export type Task = {
  readonly description: string
  readonly prompt: string
  readonly report: string
  readonly agentId?: string
  readonly tokens?: number
}

export function taskCall({ description, prompt, report, agentId, tokens = 18_000 }: Task): ToolCall {
  const content = [{ type: 'text', text: report }]
  const who = agentId === undefined ? {} : { agentId }
  const totals = { totalDurationMs: tokens * 3, totalTokens: tokens, totalToolUseCount: 1 }
  const toolUseResult = { status: 'completed', prompt, ...who, content, ...totals }
  return done('Task', { description, prompt, subagent_type: 'general-purpose' }, { content, toolUseResult })
}
