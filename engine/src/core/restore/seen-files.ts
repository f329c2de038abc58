// Files as a transcript last showed them: reads, writes and edits laid over one another. It knows nothing of this
// machine's disk, so a session from elsewhere can be restored from, at any moment of it.
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock, type ToolUseBlock, textOf } from '../message/block.ts'
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FileStore } from '../ports/files.ts'
import { readOf } from '../tokens/file-reads.ts'
import { pathOf, pathsChanged, toolKind } from '../tokens/tool-kinds.ts'
import { type PatchedFile, patchedFiles, type Replacement } from './patch.ts'

/** Lines that were never shown are undefined. */
type Lines = readonly (string | undefined)[]

export type SeenFile = {
  readonly path: string
  readonly lines: Lines
  /** Every line was shown, and the end is known. */
  readonly isWhole: boolean
}

export type SeenFiles = {
  /** In the order of the transcript. The record holds what the model did not see: whole originals, totals. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** By path, as last seen; undefined when nothing of it is known. */
  readonly file: (path: string) => SeenFile | undefined
  readonly paths: () => readonly string[]
}

export function createSeenFiles(): SeenFiles {
  const files = new Map<string, SeenFile>()
  const calls = new Map<string, ToolUseBlock>()
  const put = (path: string, lines: Lines, isWhole: boolean) => {
    files.delete(path)
    files.set(path, { path, lines, isWhole: isWhole && !lines.includes(undefined) })
  }
  const showing: Showing = { file: (path) => files.get(path), put }
  return {
    add: (message, record) => {
      if (message.origin === 'attachment') noteAttachment(showing, objectAt(record, 'attachment'))
      for (const block of blocksOf(message.content)) {
        if (isToolUse(block)) calls.set(block.id, block)
        const call = isToolResult(block) ? calls.get(block.tool_use_id) : undefined
        if (!call || !isToolResult(block) || block.is_error === true) continue
        calls.delete(call.id)
        noteResult(showing, { call, result: block, raw: objectAt(record, 'toolUseResult') })
      }
    },
    file: (path) => files.get(path),
    paths: () => [...files.keys()],
  }
}

type Showing = {
  readonly file: (path: string) => SeenFile | undefined
  readonly put: (path: string, lines: Lines, isWhole: boolean) => void
}

type Answered = {
  readonly call: ToolUseBlock
  readonly result: ToolResultBlock
  readonly raw: JsonObject | undefined
}

function noteAttachment(showing: Showing, attachment: JsonObject | undefined): void {
  const file = objectAt(objectAt(attachment, 'content'), 'file')
  if (file) noteShown(showing, file)
}

/** The client's own account of a read: path, text, first line, total. */
function noteShown(showing: Showing, file: JsonObject): boolean {
  const path = stringAt(file, 'filePath')
  const content = stringAt(file, 'content')
  if (path === undefined || content === undefined) return false
  const start = Math.max(1, numberAt(file, 'startLine') ?? 1)
  const total = numberAt(file, 'totalLines')
  show(showing, path, { start, lines: content.split('\n'), total })
  return true
}

function noteResult(showing: Showing, answered: Answered): void {
  const { call, result, raw } = answered
  const file = objectAt(raw, 'file')
  if (file && noteShown(showing, file)) return
  const read = readOf(call)
  if (read) {
    const shown = shownLines(textOf([result]), read.from)
    if (shown) show(showing, read.path, { ...shown, total: undefined })
    return
  }
  for (const patched of patchedFiles(call.input)) notePatch(showing, patched)
  const changed = stringAt(raw, 'filePath') ?? pathOf(call.input)
  if (changed === undefined) return
  if (toolKind(call) === 'write' || isCreation(call)) {
    const text = stringAt(raw, 'content') ?? stringAt(call.input, 'content') ?? stringAt(call.input, 'file_text')
    if (text !== undefined) showing.put(changed, text.split('\n'), true)
  } else if (pathsChanged(call).length > 0) noteEdits(showing, changed, answered)
}

function notePatch(showing: Showing, { path, text, replacements }: PatchedFile): void {
  const known = showing.file(path)
  if (text !== undefined) showing.put(path, text.split('\n'), true)
  else if (known) showing.put(path, replaced(known.lines, replacements), known.isWhole)
}

function isCreation({ input }: ToolUseBlock): boolean {
  return stringAt(input, 'command') === 'create'
}

function noteEdits(showing: Showing, path: string, { call, raw }: Answered): void {
  const original = stringAt(raw, 'originalFile') ?? stringAt(raw, 'originalFileContents')
  const known: Lines | undefined = original?.split('\n') ?? showing.file(path)?.lines
  if (!known) return
  const isWhole = original !== undefined || (showing.file(path)?.isWhole ?? false)
  showing.put(path, replaced(known, replacementsOf(call.input)), isWhole)
}

function replacementsOf(input: unknown): readonly Replacement[] {
  const list = arrayAt(input, 'edits').filter(isObject)
  return (list.length > 0 ? list : [input]).flatMap((edit) => {
    const before = stringAt(edit, 'old_string') ?? stringAt(edit, 'old_str') ?? stringAt(edit, 'oldText')
    const after = stringAt(edit, 'new_string') ?? stringAt(edit, 'new_str') ?? stringAt(edit, 'newText')
    if (before === undefined || after === undefined || before === '') return []
    return [{ before, after, isAll: isObject(edit) && edit.replace_all === true }]
  })
}

/** No text file holds it, so it can stand for a line that was never shown. */
const unseen = '\u0000'

function replaced(lines: Lines, replacements: readonly Replacement[]): Lines {
  let text = lines.map((line) => line ?? unseen).join('\n')
  for (const { before, after, isAll } of replacements) {
    text = isAll ? text.replaceAll(before, () => after) : text.replace(before, () => after)
  }
  return text.split('\n').map((line) => (line === unseen ? undefined : line))
}

type Shown = { readonly start: number; readonly lines: readonly string[]; readonly total?: number | undefined }

/** No file that anybody restores has more; a line number is only what some output says. */
const mostLines = 1_000_000

/** Lays what was shown over what is known. */
function show(showing: Showing, path: string, { start, lines, total: told }: Shown): void {
  if (!(start <= mostLines)) return
  const total = told === undefined ? undefined : Math.min(told, mostLines)
  const known = showing.file(path)
  const isFromStart = start === 1 && (total === undefined || lines.length >= total)
  if (isFromStart || !known) {
    const before = Array.from({ length: start - 1 }, () => undefined)
    const after = Array.from({ length: Math.max(0, (total ?? 0) - (start - 1) - lines.length) }, () => undefined)
    showing.put(path, [...before, ...lines, ...after], isFromStart)
    return
  }
  const length = Math.max(total ?? known.lines.length, start - 1 + lines.length)
  const laid = Array.from({ length }, (_, index) => {
    const here = index - (start - 1)
    return here >= 0 && here < lines.length ? lines[here] : known.lines[index]
  })
  showing.put(path, laid, known.isWhole || total !== undefined)
}

const numbered = /^ *(\d+)(?:→|\t|: |\| )(.*)$/

/** What a read brought, without the line numbers that most agents put before each line. */
function shownLines(
  text: string,
  from: number,
): { readonly start: number; readonly lines: readonly string[] } | undefined {
  if (text === '') return undefined
  const all = text.split('\n')
  const first = all.findIndex((line) => numbered.test(line))
  if (first < 0 || first > 3) return { start: from, lines: all }
  const lines: string[] = []
  for (const line of all.slice(first)) {
    const match = numbered.exec(line)
    if (!match) break
    lines.push(match[2] ?? '')
  }
  return { start: Number(numbered.exec(all[first] ?? '')?.[1] ?? from), lines }
}

/** A store that restoring can read from. Lines nobody saw are named, not made up. */
export function seenFileStore(seen: Pick<SeenFiles, 'file'>): FileStore {
  return {
    read: async (path) => {
      const file = seen.file(path)
      return file
        ? { type: 'text', text: seenText(file) }
        : { type: 'refused', why: 'the transcript never shows what is in it' }
    },
  }
}

function seenText({ lines }: SeenFile): string {
  const out: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]
    if (line !== undefined) {
      out.push(line)
      continue
    }
    let end = at
    while (end + 1 < lines.length && lines[end + 1] === undefined) end++
    out.push(`[lines ${at + 1} to ${end + 1} were never shown]`)
    at = end
  }
  return out.join('\n')
}
