// Files as a transcript last showed them: reads, writes and edits applied in order. It does not look at this machine's
// disk, so it works for sessions from elsewhere, at any point in them.
import { textOf } from '../message/block.ts'
import { type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FileStore } from '../ports/files.ts'
import { isPointer } from '../tokens/file-reads.ts'
import type { NamedKinds } from '../tools/call.ts'
import type { TextEdit } from '../tools/patch.ts'
import { createFileWalk, type FileTouch } from './file-events.ts'
import { shownLines } from './shown.ts'

/** Lines that were never shown are undefined. */
type Lines = readonly (string | undefined)[]

export type SeenFile = {
  readonly path: string
  readonly lines: Lines
  /** Every line was shown, and where the file ends is known. */
  readonly isWhole: boolean
  /** A command, an agent or a person may have changed it since. */
  readonly isStale?: true
  /** Removed or moved away. */
  readonly isGone?: true
}

export type SeenFiles = {
  /** In the order of the transcript. The record has what the model did not see: original files, line counts. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** By path, as last seen; undefined when nothing of it is known. */
  readonly file: (path: string) => SeenFile | undefined
  readonly paths: () => readonly string[]
}

export function createSeenFiles(options: { readonly named?: NamedKinds } = {}): SeenFiles {
  const files = new Map<string, SeenFile>()
  const walk = createFileWalk(options.named)
  const put = (path: string, lines: Lines, { isWhole, isSure = true }: { isWhole: boolean; isSure?: boolean }) => {
    const isStale = !isSure && files.get(path)?.isStale === true
    files.delete(path)
    files.set(path, { path, lines, isWhole: isWhole && !lines.includes(undefined), ...(isStale ? { isStale } : {}) })
  }
  const mark = (path: string, how: Mark) => {
    const file = files.get(path)
    if (file) files.set(path, { ...file, [how]: true })
  }
  const showing: Showing = { file: (path) => files.get(path), put, mark }
  return {
    add: (message, record) => {
      const { touches, unsure } = walk(message, record)
      for (const { mayChange, removes } of unsure) {
        for (const path of files.keys()) {
          if (removes(path)) mark(path, 'isGone')
          else if (mayChange(path)) mark(path, 'isStale')
        }
      }
      noteRules(showing, objectAt(record, 'attachment'))
      for (const touch of touches) noteTouch(showing, touch)
    },
    file: (path) => files.get(path),
    paths: () => [...files.keys()],
  }
}

type Mark = 'isStale' | 'isGone'

type Showing = {
  readonly file: (path: string) => SeenFile | undefined
  /** `isSure: false` if the text is derived from an earlier version. */
  readonly put: (path: string, lines: Lines, how: { readonly isWhole: boolean; readonly isSure?: boolean }) => void
  readonly mark: (path: string, how: Mark) => void
}

/** A rule file that the client added because a file in its folder was read. */
function noteRules(showing: Showing, attachment: JsonObject | undefined): void {
  if (attachment?.type !== 'nested_memory') return
  const path = stringAt(attachment, 'path')
  const { content } = attachment
  const text = typeof content === 'string' ? content : stringAt(content, 'content')
  if (path !== undefined && text !== undefined) showing.put(path, text.split('\n'), { isWhole: true })
}

function noteTouch(showing: Showing, touch: FileTouch): void {
  if (touch.type === 'attached') noteAttached(showing, touch)
  // A command may print more than the file. What it may have changed is handled by `unsure`.
  else if (touch.by.call.type !== 'command') noteResult(showing, touch)
}

function noteAttached(showing: Showing, { path, kind, attachment }: Extract<FileTouch, { type: 'attached' }>): void {
  if (kind === 'edited_text_file') showing.mark(path, 'isStale')
  const file = objectAt(objectAt(attachment, 'content'), 'file')
  if (file) noteShown(showing, file)
  const text = stringAt(attachment, 'content')
  // Restored whole by an earlier compaction.
  if (kind === 'files' && text?.startsWith(`File ${path}\n`)) {
    showing.put(path, text.slice(`File ${path}\n`.length).split('\n'), { isWhole: true })
  }
}

/** The client's own record of a read: path, text, first line, total. */
function noteShown(showing: Showing, file: JsonObject): boolean {
  const path = stringAt(file, 'filePath')
  const content = stringAt(file, 'content')
  if (path === undefined || content === undefined) return false
  const start = Math.max(1, numberAt(file, 'startLine') ?? 1)
  const total = numberAt(file, 'totalLines')
  show(showing, path, { start, lines: content.split('\n'), total })
  return true
}

function noteResult(showing: Showing, touch: Exclude<FileTouch, { type: 'attached' }>): void {
  const { path, by } = touch
  const file = objectAt(by.raw, 'file')
  if (file && noteShown(showing, file)) return
  if (touch.type === 'read') {
    const shown = isPointer(by.result) ? undefined : shownLines(textOf([by.result]), touch.lines[0])
    if (shown) show(showing, path, { ...shown, total: undefined })
    return
  }
  if (touch.act === 'deleted') {
    showing.mark(path, 'isGone')
    return
  }
  const changed = stringAt(by.raw, 'filePath') ?? path
  const text = (by.call.type === 'write' ? stringAt(by.raw, 'content') : undefined) ?? touch.text
  if (text !== undefined) showing.put(changed, text.split('\n'), { isWhole: true })
  else noteEdits(showing, changed, touch)
}

function noteEdits(showing: Showing, path: string, { edits, by }: Extract<FileTouch, { type: 'changed' }>): void {
  const original = stringAt(by.raw, 'originalFile') ?? stringAt(by.raw, 'originalFileContents')
  const known: Lines | undefined = original?.split('\n') ?? showing.file(path)?.lines
  if (!known) return
  const isWhole = original !== undefined || (showing.file(path)?.isWhole ?? false)
  showing.put(path, edited(known, edits), { isWhole, isSure: original !== undefined })
  if (edits.some(({ before }) => before === '')) showing.mark(path, 'isStale')
}

/** Does not occur in text files, so it can mark a line that was never shown. */
const unseen = '\u0000'

function edited(lines: Lines, edits: readonly TextEdit[]): Lines {
  let text = lines.map((line) => line ?? unseen).join('\n')
  for (const { before, after, isAll } of edits) {
    if (before === '') continue
    text = isAll ? text.replaceAll(before, () => after) : text.replace(before, () => after)
  }
  return text.split('\n').map((line) => (line === unseen ? undefined : line))
}

type Shown = { readonly start: number; readonly lines: readonly string[]; readonly total?: number | undefined }

/** Line numbers come from outputs and may be absurd. */
const mostLines = 1_000_000

/** Adds the lines that were shown to what is known. */
function show(showing: Showing, path: string, { start, lines, total }: Shown): void {
  if (!(Math.max(start + lines.length, total ?? 0) <= mostLines)) return
  const known = showing.file(path)
  const isFromStart = start === 1 && (total === undefined || lines.length >= total)
  if (isFromStart || !known) {
    const before = Array.from({ length: start - 1 }, () => undefined)
    const after = Array.from({ length: Math.max(0, (total ?? 0) - (start - 1) - lines.length) }, () => undefined)
    showing.put(path, [...before, ...lines, ...after], { isWhole: isFromStart })
    return
  }
  const length = Math.max(total ?? known.lines.length, start - 1 + lines.length)
  const laid = Array.from({ length }, (_, index) => {
    const here = index - (start - 1)
    return here >= 0 && here < lines.length ? lines[here] : known.lines[index]
  })
  showing.put(path, laid, { isWhole: known.isWhole || total !== undefined, isSure: false })
}

/** A file store for restoring. It refuses files that may have changed since they were shown. */
export function seenFileStore(seen: Pick<SeenFiles, 'file'>): FileStore {
  return {
    read: async (path) => {
      const file = seen.file(path)
      if (!file) return { type: 'refused', why: 'the transcript never shows what is in it' }
      if (file.isGone) return { type: 'missing' }
      const why = 'may have changed since it was last shown'
      return file.isStale ? { type: 'refused', why } : { type: 'text', text: seenText(file) }
    },
  }
}

/** Says which lines were never shown. */
export function seenText({ lines }: SeenFile): string {
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
