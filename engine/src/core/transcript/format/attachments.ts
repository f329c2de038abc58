// The text that a model reads for each kind of attachment that clients write. Unknown kinds are listed field by field.

import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../../message/json.ts'
import { type Block, blocksOf, isMedia, isText } from '../../message/message.ts'
import { readableBlocks } from '../../message/readable.ts'

type Content = string | readonly Block[]

/** Records that only the client uses. A `prompt_snapshot` holds the system prompt and the tools, not messages. */
const unseen = new Set([
  'command_permissions',
  'async_hook_response',
  'hook_non_blocking_error',
  'structured_output',
  'prompt_snapshot',
])

/** Empty if no model sees it. */
export function attachmentContent(attachment: JsonObject): Content {
  const { type, ...fields } = attachment
  const kind = String(type)
  if (unseen.has(kind)) return ''
  const text = Object.hasOwn(texts, kind) ? texts[kind]?.(attachment) : undefined
  if (text !== undefined) return text
  const { content } = fields
  if (typeof content === 'string' || isContent(content)) return content
  const { filename, path = filename, ...rest } = fields
  if (!isFilled(path)) return listed(fields)
  return joined([`${fileTitle}${path}`, listed(rest)]) ?? ''
}

/** Blocks that a request can carry unchanged. Other lists are in a format of the client. */
function isContent(content: unknown): content is readonly Block[] {
  const blocks = blocksOf(content)
  if (!Array.isArray(content) || blocks.length === 0 || blocks.length !== content.length) return false
  return blocks.every((block) => isText(block) || isMedia(block))
}

/** Undefined if the attachment does not have the fields of its kind. */
const texts: Readonly<Record<string, (attachment: JsonObject) => Content | undefined>> = {
  queued_command: ({ prompt }) => (typeof prompt === 'string' ? prompt : readableBlocks(blocksOf(prompt), 'user')),
  file: fileContent,
  already_read_file: fileContent,
  compact_file_reference: (attachment) =>
    fileText(attachment, ['(It was read before the conversation was compacted, and is not shown here again.)']),
  edited_text_file: (attachment) =>
    fileText(attachment, ['(It has changed since it was read. The changed lines:)', stringAt(attachment, 'snippet')]),
  opened_file_in_ide: (attachment) => fileText(attachment, ['(The user has opened it in the IDE.)']),
  selected_lines_in_ide: (attachment) => {
    const from = numberAt(attachment, 'lineStart')
    const lines = from === undefined ? 'lines' : linesText(from, numberAt(attachment, 'lineEnd') ?? from)
    const ide = stringAt(attachment, 'ideName') ?? 'the IDE'
    return fileText(attachment, [`(The user has selected ${lines} in ${ide}:)`, stringAt(attachment, 'content')])
  },
  directory: ({ path, content }) => joined([typeof path === 'string' && `Folder ${path}`, content]),
  nested_memory: (attachment) => {
    const memory = objectAt(attachment, 'content')
    const path = stringAt(attachment, 'path') ?? stringAt(memory, 'path')
    const text = stringAt(memory, 'content') ?? stringAt(attachment, 'content')
    return text === undefined ? undefined : joined([path && `File ${path}`, text])
  },
  plan_file_reference: ({ planFilePath, planContent }) =>
    joined([typeof planFilePath === 'string' && `Plan ${planFilePath}`, planContent]),
  plan_mode: ({ planFilePath }) => joined(['Plan mode is on.', planAt(planFilePath)]),
  plan_mode_reentry: ({ planFilePath }) => joined(['Plan mode is on again.', planAt(planFilePath)]),
  plan_mode_exit: ({ planFilePath }) => joined(['Plan mode is off.', planAt(planFilePath)]),
  auto_mode: () => 'Auto mode is on.',
  ultra_effort_enter: () => 'Highest effort is on.',
  todo: todoText,
  todo_reminder: todoText,
  task_reminder: todoText,
  task_status: ({ taskType, taskId, description, status, deltaSummary }) =>
    joined([`Task ${[taskId, taskType, description].filter(isFilled).join(', ')}: ${status}`, deltaSummary]),
  goal_status: ({ condition, met }) =>
    isFilled(condition) ? `Goal ${met === true ? 'met' : 'not met yet'}: ${condition}` : undefined,
  diagnostics: (attachment) => joined(arrayAt(attachment, 'files').map(diagnosticsText)),
  hook_additional_context: (attachment) =>
    hookText(attachment, stringsAt(attachment, 'content').join('\n') || stringAt(attachment, 'content')),
  hook_blocking_error: (attachment) => {
    const error = objectAt(attachment, 'blockingError')
    return hookText(attachment, joined(['It blocked this:', error?.blockingError, error?.command]))
  },
  hook_cancelled: (attachment) => hookText(attachment, 'It was cancelled.'),
  invoked_skills: (attachment) =>
    joined(
      arrayAt(attachment, 'skills')
        .filter(isObject)
        .map(({ name, content }) => joined([`Skill ${name}`, content])),
    ),
  skill_discovery: (attachment) => namedLines(arrayAt(attachment, 'skills')),
  agent_listing_delta: (attachment) => changesText(attachment, ['addedLines', 'addedTypes', 'removedTypes']),
  deferred_tools_delta: (attachment) => changesText(attachment, ['addedLines', 'addedNames', 'removedNames']),
  mcp_instructions_delta: (attachment) => changesText(attachment, ['addedBlocks', 'addedNames', 'removedNames']),
  date_change: ({ newDate }) => (isFilled(newDate) ? `The date is now ${newDate}.` : undefined),
  read_truncation_notice: ({ banner }) => (isFilled(banner) ? banner : undefined),
  total_tokens_reminder: ({ text }) => (isFilled(text) ? text : undefined),
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Joins the given texts with newlines; undefined if there are none. */
function joined(parts: readonly unknown[]): string | undefined {
  const filled = parts.filter(isFilled)
  return filled.length === 0 ? undefined : filled.join('\n')
}

const fileTitle = 'File '

/** The file that an attachment is about, from its text; undefined if it is about none. */
export function attachedFile(text: string): { readonly path: string; readonly isWhole: boolean } | undefined {
  const [first = '', second = ''] = text.split('\n', 2)
  if (!first.startsWith(fileTitle)) return undefined
  return { path: first.slice(fileTitle.length), isWhole: !/^\(lines? \d/.test(second) }
}

function fileText(attachment: JsonObject, parts: readonly unknown[]): string | undefined {
  const path = stringAt(attachment, 'filename')
  return path === undefined ? undefined : joined([`${fileTitle}${path}`, ...parts])
}

function fileContent(attachment: JsonObject): Content | undefined {
  const content = objectAt(attachment, 'content')
  const file = objectAt(content, 'file')
  const [text, data, mediaType] = ['content', 'base64', 'type'].map((key) => stringAt(file, key))
  if (data !== undefined && mediaType?.startsWith('image/')) {
    const title = fileText(attachment, []) ?? fileTitle.trim()
    return [
      { type: 'text', text: title },
      { type: 'image', source: { type: 'base64', media_type: mediaType, data } },
    ]
  }
  if (text === undefined) return undefined
  const [start = 1, count, total] = ['startLine', 'numLines', 'totalLines'].map((key) => numberAt(file, key))
  const isPart = count !== undefined && total !== undefined && count < total
  return fileText(attachment, [isPart && `(${linesText(start, start + count - 1)} of ${total})`, text])
}

function linesText(from: number, to: number): string {
  return from === to ? `line ${from}` : `lines ${from}–${to}`
}

function planAt(path: unknown): string | false {
  return isFilled(path) && `The plan is in ${path}.`
}

function todoText(attachment: JsonObject): string | undefined {
  const { content, todos } = attachment
  const items = [content, todos].find(Array.isArray)
  if (items === undefined) return undefined
  return items.length === 0 ? 'The list is empty.' : joined(items.filter(isObject).map(todoLine))
}

const boxes: Readonly<Record<string, string>> = { completed: '[x]', in_progress: '[>]' }

function todoLine(item: JsonObject): string {
  const { id, status, blockedBy } = item
  const what = [item.subject, item.content, item.text].find(isFilled) ?? ''
  const about = isFilled(item.description) && item.description !== what ? `: ${item.description}` : ''
  const waits = Array.isArray(blockedBy) && blockedBy.length > 0 ? ` (waits for ${blockedBy.join(', ')})` : ''
  return `${boxes[String(status)] ?? '[ ]'} ${isFilled(id) ? `${id}. ` : ''}${what}${about}${waits}`
}

function diagnosticsText(file: unknown): string | undefined {
  const lines = arrayAt(file, 'diagnostics')
    .filter(isObject)
    .map(({ severity, message, range, source, code }) => {
      // Counted from 0.
      const line = numberAt(objectAt(range, 'start'), 'line')
      const place = line === undefined ? '' : `line ${line + 1}: `
      const by = [source, code].filter(isFilled).join(' ')
      return `${place}${isFilled(severity) ? `${severity}: ` : ''}${message}${by === '' ? '' : ` (${by})`}`
    })
  return joined([stringAt(file, 'uri') ?? stringAt(file, 'file') ?? 'A file', ...lines])
}

function hookText({ hookName, hookEvent }: JsonObject, text: string | undefined): string | undefined {
  const name = [hookName, hookEvent].find(isFilled)
  return text === undefined ? undefined : joined([`Hook ${name ?? 'without a name'}:`, text])
}

/** The lines if there are any, otherwise the names. */
function changesText(attachment: JsonObject, keys: readonly [string, string, string]): string {
  const [lines, names, gone] = keys.map((key) => stringsAt(attachment, key))
  const removed = gone?.join(', ')
  return joined([...(lines?.length ? lines : (names ?? [])), removed && `No longer available: ${removed}`]) ?? ''
}

function namedLines(items: readonly unknown[]): string | undefined {
  return joined(
    items.map((item) => [stringAt(item, 'name'), stringAt(item, 'description')].filter(isFilled).join(': ')),
  )
}

/** Any fields as text: one line each, with nested fields indented below. */
function listed(value: unknown, indent = ''): string {
  if (typeof value === 'string') return value.replaceAll('\n', `\n${indent}`)
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  const lines = entries.map(([key, item]) => {
    const name = Array.isArray(value) ? '-' : `${key}:`
    const isNested = typeof item === 'object' && item !== null && Object.keys(item).length > 0
    const isLong = typeof item === 'string' && item.includes('\n')
    const text = typeof item === 'object' && item !== null && !isNested ? 'none' : listed(item, `${indent}  `)
    return isNested || isLong ? `${name}\n${indent}  ${text}` : `${name} ${text}`
  })
  return lines.join(`\n${indent}`)
}
