// Files as a transcript last showed them: reads, writes and edits laid over one another. It knows nothing of this
// machine's disk, so a session from elsewhere can be restored from, at any moment of it.
import { textOf } from '../message/block.ts'
import { type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FileStore } from '../ports/files.ts'
import { isPointer, readOf } from '../tokens/file-reads.ts'
import { type NamedKinds, toolKind } from '../tokens/tool-kinds.ts'
import { type Answered, createFileWalk, type FileTouch } from './file-events.ts'
import { patchedFiles, type Replacement, replacementsOf, writtenText } from './patch.ts'
import { shownLines } from './shown.ts'

/** Lines that were never shown are undefined. */
type Lines = readonly (string | undefined)[]

export type SeenFile = {
  readonly path: string
  readonly lines: Lines
  /** Every line was shown, and the end is known. */
  readonly isWhole: boolean
  /** A command, an agent or a person may have changed it since. */
  readonly isStale?: true
  /** Removed or moved away. */
  readonly isGone?: true
}

export type SeenFiles = {
  /** In the order of the transcript. The record holds what the model did not see: whole originals, totals. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** By path, as last seen; undefined when nothing of it is known. */
  readonly file: (path: string) => SeenFile | undefined
  readonly paths: () => readonly string[]
}

export function createSeenFiles(options: { readonly named?: NamedKinds } = {}): SeenFiles {
  const { named = {} } = options
  const files = new Map<string, SeenFile>()
  const walk = createFileWalk(named)
  const put = (path: string, lines: Lines, { isWhole, isSure = true }: { isWhole: boolean; isSure?: boolean }) => {
    const isStale = !isSure && files.get(path)?.isStale === true
    files.delete(path)
    files.set(path, { path, lines, isWhole: isWhole && !lines.includes(undefined), ...(isStale ? { isStale } : {}) })
  }
  const makeStale = (path: string) => {
    const file = files.get(path)
    if (file) files.set(path, { ...file, isStale: true })
  }
  const showing: Showing = { file: (path) => files.get(path), put, makeStale, named }
  return {
    add: (message, record) => {
      const { touches, unsure } = walk(message, record)
      for (const { mayChange, removes } of unsure) {
        for (const [path, file] of files) {
          if (removes(path)) files.set(path, { ...file, isGone: true })
          else if (mayChange(path)) makeStale(path)
        }
      }
      noteRules(showing, objectAt(record, 'attachment'))
      for (const touch of touches) noteTouch(showing, touch)
    },
    file: (path) => files.get(path),
    paths: () => [...files.keys()],
  }
}

type Showing = {
  readonly file: (path: string) => SeenFile | undefined
  /** Not sure: made of what was known before. */
  readonly put: (path: string, lines: Lines, how: { readonly isWhole: boolean; readonly isSure?: boolean }) => void
  readonly makeStale: (path: string) => void
  readonly named: NamedKinds
}

/** A rule file that the client brought along with a folder. */
function noteRules(showing: Showing, attachment: JsonObject | undefined): void {
  if (attachment?.type !== 'nested_memory') return
  const path = stringAt(attachment, 'path')
  const { content } = attachment
  const text = typeof content === 'string' ? content : stringAt(content, 'content')
  if (path !== undefined && text !== undefined) showing.put(path, text.split('\n'), { isWhole: true })
}

function noteTouch(showing: Showing, touch: FileTouch): void {
  if (touch.type === 'attached') noteAttached(showing, touch)
  // The output of a command is not sure to be the file and nothing else; what it may have changed is known already.
  else if (!touch.by.isShell) noteResult(showing, touch.path, touch.by)
}

function noteAttached(showing: Showing, { path, kind, attachment }: Extract<FileTouch, { type: 'attached' }>): void {
  if (kind === 'edited_text_file') showing.makeStale(path)
  const file = objectAt(objectAt(attachment, 'content'), 'file')
  if (file) noteShown(showing, file)
  const text = stringAt(attachment, 'content')
  // What was put back whole after an earlier compaction.
  if (kind === 'files' && text?.startsWith(`File ${path}\n`)) {
    showing.put(path, text.slice(`File ${path}\n`.length).split('\n'), { isWhole: true })
  }
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

function noteResult(showing: Showing, path: string, answered: Answered): void {
  const { call, result, raw } = answered
  const file = objectAt(raw, 'file')
  if (file && noteShown(showing, file)) return
  const read = readOf(call, showing.named)
  if (read) {
    const shown = isPointer(result) ? undefined : shownLines(textOf([result]), read.from)
    if (shown) show(showing, read.path, { ...shown, total: undefined })
    return
  }
  const patched = patchedFiles(call.input).find((each) => each.path === path)
  const changed = stringAt(raw, 'filePath') ?? path
  const known = showing.file(path)
  if (patched?.text !== undefined) showing.put(path, patched.text.split('\n'), { isWhole: true })
  else if (patched && known)
    showing.put(path, replaced(known.lines, patched.replacements), { isWhole: known.isWhole, isSure: false })
  else if (toolKind(call, showing.named) === 'write') {
    const text = stringAt(raw, 'content') ?? writtenText(call.input)
    if (text !== undefined) showing.put(changed, text.split('\n'), { isWhole: true })
  } else if (!patched) noteEdits(showing, changed, answered)
}

function noteEdits(showing: Showing, path: string, { call, raw }: Answered): void {
  const original = stringAt(raw, 'originalFile') ?? stringAt(raw, 'originalFileContents')
  const known: Lines | undefined = original?.split('\n') ?? showing.file(path)?.lines
  if (!known) return
  const isWhole = original !== undefined || (showing.file(path)?.isWhole ?? false)
  showing.put(path, replaced(known, replacementsOf(call.input)), { isWhole, isSure: original !== undefined })
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

/** A store that restoring can read from. A file that may have changed since is not shown. */
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

/** Lines nobody saw are named, not made up. */
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
