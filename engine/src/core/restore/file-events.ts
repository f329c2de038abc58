// What each message did to files: reads, edits and writes by tools and shell commands, and files that the client added to the
// context. All code that asks which files were touched, shown or changed reads this.

import { defined, type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import { dropOldest } from '../message/maps.ts'
import {
  blocksOf,
  isToolResult,
  isToolUse,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
  type ViewMessage,
} from '../message/message.ts'
import { isPointer, readBy } from '../tokens/file-reads.ts'
import { type Lines, type NamedKinds, type ToolCall, toolCall } from '../tools/call.ts'
import type { PatchedFile, TextEdit } from '../tools/patch.ts'
import { mayChange, readScript, removes, type Script } from '../tools/shell-effects.ts'
import { attachedFile } from '../transcript/format/attachments.ts'
import { isClearedText } from '../transcript/format/messages.ts'

export type FileTouch = { readonly path: string; readonly by: 'tool' | 'command' | 'client' } & (
  | {
      readonly type: 'read'
      /** The lines that a call requested. */
      readonly lines?: Lines
      /** The message shows the whole file. */
      readonly isWhole: boolean
      readonly shown: () => ShownText | undefined
    }
  | {
      readonly type: 'changed'
      /** The action of a patch. */
      readonly act?: PatchedFile['act']
      /** The whole text, if the call wrote it. */
      readonly text?: string
      /** The whole text before the edits, if the client recorded it. */
      readonly original?: string
      readonly edits: readonly TextEdit[]
    }
)

export type ShownText = {
  /** The path in the client's record. */
  readonly path?: string
  /** The first line's number. */
  readonly start: number
  readonly lines: readonly string[]
  /** Number of lines in the file, if the client recorded it. */
  readonly total?: number | undefined
}

type AnsweredToolCall = {
  readonly call: ToolCall
  readonly result: ToolResultBlock
  /** The client's own record of the result. */
  readonly raw: JsonObject | undefined
}

export type FileNews = {
  readonly touches: readonly FileTouch[]
  /** Commands and agents that may have changed files that they do not name. They come before the touches. */
  readonly unsure: readonly Unsure[]
}

export type Unsure = {
  readonly mayChange: (path: string) => boolean
  readonly removes: (path: string) => boolean
}

/** Takes messages in order and returns what each did to files. */
export type FileWalk = (message: ViewMessage, record?: JsonObject) => FileNews

/** An interrupted call gets no result. It is forgotten after this many others. */
const maxOpenCalls = 256

export function createFileWalk(named: NamedKinds = {}): FileWalk {
  const calls = new Map<string, ToolUseBlock>()
  return (message, record) => {
    const touches: FileTouch[] = attachedIn(message, record)
    const unsure: Unsure[] = []
    for (const block of blocksOf(message.content)) {
      if (isToolUse(block)) calls.set(block.id, block)
      const use = isToolResult(block) ? calls.get(block.tool_use_id) : undefined
      if (!use || !isToolResult(block)) continue
      calls.delete(use.id)
      if (isDenied(block, record)) continue
      const call = toolCall(use, named)
      const script = call.type === 'command' ? readScript(call.script) : undefined
      // A command may have changed something before it failed.
      unsure.push(...unsureAfter(call, script, block.is_error === true))
      if (block.is_error === true) continue
      const answered = { call, result: block, raw: objectAt(record, 'toolUseResult') }
      touches.push(...(script ? scriptTouches(script, answered) : toolTouches(answered)))
    }
    dropOldest(calls, maxOpenCalls)
    return { touches, unsure }
  }
}

/** The call never ran. The shell's own “Permission denied” says nothing about earlier commands. */
function isDenied({ is_error, content }: ToolResultBlock, record: JsonObject | undefined): boolean {
  if (record?.toolDenialKind !== undefined) return true
  return (
    is_error === true &&
    /\bdoesn't want to (?:proceed|take this action)|\bwas rejected\b|\bPermission\b.{0,200}\b(?:been|was) denied\b/.test(
      textOf(content).slice(0, 500),
    )
  )
}

/** Agents of these types only read. */
const lookingAgent = /explore|plan|search|review/i

function unsureAfter(call: ToolCall, script: Script | undefined, isError: boolean): readonly Unsure[] {
  if (script) {
    const isChange = script.isWide || script.files.some(({ act }) => act !== 'read')
    return isChange
      ? [{ mayChange: (path) => mayChange(script, path), removes: (path) => !isError && removes(script, path) }]
      : []
  }
  if (call.type !== 'agent' || lookingAgent.test(call.agentType ?? '')) return []
  return [{ mayChange: () => true, removes: () => false }]
}

function toolTouches(answered: AnsweredToolCall): readonly FileTouch[] {
  const { call, result, raw } = answered
  const read = readBy(call, result)
  if (read) return [readTouch('tool', { path: read.path, lines: [read.from, read.to], answered })]
  if (call.type === 'patch') return call.files.map((file) => ({ type: 'changed', by: 'tool', ...file }))
  const path = stringAt(raw, 'filePath') ?? call.path
  if (path === undefined || (call.type !== 'edit' && call.type !== 'write')) return []
  const change = { type: 'changed', by: 'tool', path } as const
  if (call.type === 'write') {
    return [{ ...change, edits: [], ...defined({ text: stringAt(raw, 'content') ?? call.text }) }]
  }
  const original = stringAt(raw, 'originalFile') ?? stringAt(raw, 'originalFileContents')
  return [{ ...change, edits: call.edits, ...defined({ original }) }]
}

const wholeFile: Lines = [1, Number.POSITIVE_INFINITY]

function scriptTouches({ files }: Script, answered: AnsweredToolCall): readonly FileTouch[] {
  return files.flatMap(({ path, act, lines = wholeFile }): readonly FileTouch[] => {
    if (act === 'read') return [readTouch('command', { path, lines, answered })]
    return act === 'named' ? [] : [{ type: 'changed', by: 'command', path, edits: [] }]
  })
}

type ReadCall = { readonly path: string; readonly lines: Lines; readonly answered: Omit<AnsweredToolCall, 'call'> }

/** A pointer to an older read and a cleared result show no lines. A command may print more than the file. */
function readTouch(by: FileTouch['by'], { path, lines, answered }: ReadCall): FileTouch {
  const { result, raw } = answered
  const [from, to] = lines
  const isThere = !isPointer(result) && !isClearedText(textOf([result]))
  const isWhole = by !== 'command' && from === 1 && to === Number.POSITIVE_INFINITY && isThere
  const shown = () => {
    const recorded = recordedText(objectAt(raw, 'file'))
    if (isPointer(result)) return recorded
    const printed = shownLines(textOf([result]), from)
    // The record may hold text that the tool omitted from its result, such as a secret.
    if (printed?.isNumbered && recorded) {
      // Results omit the newline at the end of the file.
      const isEnded = recorded.lines.length === printed.lines.length + 1 && recorded.lines.at(-1) === ''
      const lines = isEnded ? [...printed.lines, ''] : printed.lines
      return { ...recorded, start: printed.start, lines }
    }
    return recorded ?? printed
  }
  return { type: 'read', by, path, lines, isWhole, shown }
}

/** Attachments about one file. A person's own edit also arrives this way. */
const fileKinds = new Set(['file', 'already_read_file', 'compact_file_reference', 'edited_text_file', 'files'])

function attachedIn({ attachment: kind, content, origin }: ViewMessage, record: JsonObject | undefined): FileTouch[] {
  if (origin !== 'attachment' || kind === undefined) return []
  const attachment = objectAt(record, 'attachment')
  const facts = objectAt(attachment, 'toolUseResult')
  if (facts) return attachedRead(content, facts)
  if (!fileKinds.has(kind)) return []
  const read = kind === 'files' ? undefined : attachedFile(textOf(content))
  const path = attachment ? stringAt(attachment, 'filename') : read?.path
  if (path === undefined) return []
  if (kind === 'edited_text_file') return [{ type: 'changed', by: 'client', path, edits: [] }]
  const touch = { type: 'read', by: 'client', path } as const
  if (kind === 'files') {
    // Restored after an earlier compaction. The title of an excerpt says so after the path.
    const [title, ...lines] = stringAt(attachment, 'content')?.split('\n') ?? []
    const isWhole = title === `File ${path}`
    return [{ ...touch, isWhole, shown: () => (isWhole ? { start: 1, lines } : undefined) }]
  }
  const file = objectAt(objectAt(attachment, 'content'), 'file')
  const count = numberAt(file, 'numLines')
  const isAll = attachment
    ? count === undefined || count >= (numberAt(file, 'totalLines') ?? 0)
    : read?.isWhole === true
  const isWhole = kind !== 'compact_file_reference' && isAll
  return [{ ...touch, isWhole, shown: () => recordedText(file) }]
}

/** A tool read the file for the client, so this is handled like the result of a call. */
function attachedRead(content: ViewMessage['content'], raw: JsonObject): FileTouch[] {
  const file = objectAt(raw, 'file')
  const path = stringAt(file, 'filePath')
  if (path === undefined) return []
  const [from = 1, count = 0, total = 0] = ['startLine', 'numLines', 'totalLines'].map((key) => numberAt(file, key))
  const end = from + count - 1
  const result: ToolResultBlock = { type: 'tool_result', tool_use_id: '', content: textOf(content) }
  const lines: Lines = [from, end < total ? end : Number.POSITIVE_INFINITY]
  return [readTouch('client', { path, lines, answered: { result, raw } })]
}

/** The client's own record of a read. */
function recordedText(file: JsonObject | undefined): ShownText | undefined {
  const [path, content] = [stringAt(file, 'filePath'), stringAt(file, 'content')]
  if (path === undefined || content === undefined) return undefined
  const start = Math.max(1, numberAt(file, 'startLine') ?? 1)
  return { path, start, lines: content.split('\n'), total: numberAt(file, 'totalLines') }
}

/** `  12→const a = 1`, `12\tconst a = 1`, `12: const a = 1` or `12| const a = 1`. */
const numberedLine = /^ *(\d+)(?:→|\t|: |\| )(.*)$/s

/** The lines of a read, without the line numbers that most agents add. */
function shownLines(text: string, from: number): (ShownText & { readonly isNumbered: boolean }) | undefined {
  if (text === '') return undefined
  const all = text.split('\n')
  const first = all.findIndex((line) => numberedLine.test(line))
  if (first < 0 || first > 3) return { start: from, lines: all, isNumbered: false }
  const lines: string[] = []
  for (const line of all.slice(first)) {
    const match = numberedLine.exec(line)
    if (!match) break
    lines.push(match[2] ?? '')
  }
  return { start: Number(numberedLine.exec(all[first] ?? '')?.[1] ?? from), lines, isNumbered: true }
}
