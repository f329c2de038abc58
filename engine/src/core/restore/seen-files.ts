// What a conversation showed of files: each file as it was last shown, with reads, writes and edits applied in order, and the
// lines that the tools of an open session showed. It does not look at this machine's disk, so it works for sessions from
// elsewhere, at any point in them.
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import { dropOldest } from '../message/maps.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FilePart, FileStore } from '../ports/restore.ts'
import { type Lines, type NamedKinds, pathKey } from '../tools/call.ts'
import { addedLines, type TextEdit } from '../tools/patch.ts'
import { createFileWalk, type FileTouch, type ShownText } from './file-events.ts'

/** A line that was never shown is undefined. */
type FileLines = readonly (string | undefined)[]

export type SeenFile = {
  readonly lines: FileLines
  /** Every line was shown, and the end of the file is known. */
  readonly isWhole: boolean
  /** A command, an agent or a person may have changed it since then. */
  readonly isStale?: true
  /** Removed or moved away. */
  readonly isGone?: true
}

export type SeenFiles = {
  /** Takes messages in the order of the transcript. The record has what the model did not see: original files, line counts. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** The file at this path as last seen. Undefined if unknown. */
  readonly file: (path: string) => SeenFile | undefined
}

export type SeenFilesOptions = {
  /** What the host's tools do, by name. */
  readonly named?: NamedKinds | undefined
  /** The folder of the workspace. Paths below it may be absolute or relative. */
  readonly root?: string | undefined
}

export function createSeenFiles({ named, root }: SeenFilesOptions = {}): SeenFiles {
  const files = new Files(root)
  const walk = createFileWalk(named)
  return {
    add: (message, record) => {
      const { touches, unsure } = walk(message, record)
      for (const { mayChange, removes } of unsure) {
        for (const path of files.known.keys()) {
          if (removes(path)) files.mark(path, 'isGone')
          else if (mayChange(path)) files.mark(path, 'isStale')
        }
      }
      files.noteRules(objectAt(record, 'attachment'))
      for (const touch of touches) {
        // A command may print more than the file. `unsure` handles its possible changes.
        if (touch.by === 'command') continue
        if (touch.type === 'changed') files.noteChange(touch)
        else files.noteShown(touch.path, touch.shown())
      }
    },
    file: (path) => files.known.get(pathKey(path, root)),
  }
}

/** Line numbers come from outputs and may be absurdly large. */
const maxLines = 1_000_000
/** Only this many files are remembered, the latest ones. */
const maxFiles = 1_000

class Files {
  /** Keys are from `pathKey`. */
  readonly known = new Map<string, SeenFile>()
  private readonly root: string | undefined

  constructor(root: string | undefined) {
    this.root = root
  }

  private get(path: string): SeenFile | undefined {
    return this.known.get(pathKey(path, this.root))
  }

  /** `isSure: false` if the text is derived from an earlier version. */
  private put(path: string, lines: FileLines, { isWhole = true, isSure = true } = {}): void {
    const key = pathKey(path, this.root)
    const isStale = !isSure && this.known.get(key)?.isStale === true
    this.known.delete(key)
    const whole = isWhole && !lines.includes(undefined)
    this.known.set(key, { lines, isWhole: whole, ...(isStale ? { isStale } : {}) })
    dropOldest(this.known, maxFiles)
  }

  mark(path: string, how: 'isStale' | 'isGone'): void {
    const file = this.get(path)
    if (file) this.known.set(pathKey(path, this.root), { ...file, [how]: true })
  }

  /** A rule file that the client added because the agent read a file in its folder. */
  noteRules(attachment: JsonObject | undefined): void {
    if (attachment?.type !== 'nested_memory') return
    const path = stringAt(attachment, 'path')
    const text = stringAt(attachment, 'content') ?? stringAt(attachment.content, 'content')
    if (path !== undefined && text !== undefined) this.put(path, text.split('\n'))
  }

  noteChange({ path, act, text, original, edits }: Extract<FileTouch, { type: 'changed' }>): void {
    if (act === 'deleted') this.mark(path, 'isGone')
    else if (text !== undefined) this.put(path, text.split('\n'))
    else this.noteEdits(path, original, edits)
  }

  private noteEdits(path: string, original: string | undefined, edits: readonly TextEdit[]): void {
    const known = this.get(path)
    const recorded = original === undefined ? undefined : asShown(original.split('\n'), known?.lines ?? [])
    const lines: FileLines | undefined = recorded ?? known?.lines
    if (!lines) return
    const isWhole = recorded !== undefined || known?.isWhole === true
    this.put(path, withEdits(lines, edits), { isWhole, isSure: recorded !== undefined })
    // Unknown what was inserted, or where.
    if (edits.length === 0 || edits.some(({ before }) => before === '')) this.mark(path, 'isStale')
  }

  /** Adds the shown lines to the known ones. */
  noteShown(named: string, shown: ShownText | undefined): void {
    if (!shown) return
    const { path = named, start, lines, total } = shown
    if (!(Math.max(start + lines.length, total ?? 0) <= maxLines)) return
    const isFromStart = start === 1 && (total === undefined || lines.length >= total)
    const known = isFromStart ? undefined : this.get(path)
    const length = Math.max(total ?? known?.lines.length ?? 0, start - 1 + lines.length)
    const laid = Array.from({ length }, (_, index) => {
      const here = index - (start - 1)
      return here >= 0 && here < lines.length ? lines[here] : known?.lines[index]
    })
    if (!known) this.put(path, laid, { isWhole: isFromStart })
    else this.put(path, laid, { isWhole: known.isWhole || total !== undefined, isSure: false })
  }
}

/**
 * The client's record holds text that a tool omitted from its results, such as a secret, so such a line stays as shown. If the
 * number of lines differs, something else changed the file.
 */
function asShown(recorded: readonly string[], shown: FileLines): FileLines {
  const lengthOf = (lines: FileLines) => (lines.at(-1) === '' ? lines.length - 1 : lines.length)
  if (lengthOf(recorded) !== lengthOf(shown)) return recorded
  const isOther = (line: string, at: number) => shown[at] !== undefined && shown[at] !== line
  const there = new Set(recorded)
  return recorded.map((line, at) => (isOther(line, at) && !there.has(shown[at] ?? '') ? shown[at] : line))
}

/** True if every shown line is still in its place. */
export function agrees(shown: FileLines, now: readonly string[]): boolean {
  return shown.every((line, at) => line === undefined || line === now[at])
}

/** Marks a line that was never shown. Does not occur in text files. */
const unseen = '\u0000'

function withEdits(lines: FileLines, edits: readonly TextEdit[]): FileLines {
  let text = lines.map((line) => line ?? unseen).join('\n')
  for (const { before, after, isAll } of edits) {
    if (before === '') continue
    text = isAll ? text.replaceAll(before, () => after) : text.replace(before, () => after)
  }
  return text.split('\n').map((line) => (line === unseen ? undefined : line))
}

/** A file store for restoring. Refuses files that may have changed since they were shown. */
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

/** Marks lines that were never shown. */
export function seenText({ lines }: SeenFile): string {
  const out: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const start = at
    while (at < lines.length && lines[at] === undefined) at++
    if (at > start) out.push(`[lines ${start + 1} to ${at} were never shown]`)
    const line = lines[at]
    if (line !== undefined) out.push(line)
  }
  return out.join('\n')
}

export type Shown = {
  /** Takes every message of the open session, in order. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** True if a result claims to have shown or changed this file. `proves` checks the claim. */
  readonly has: (path: string) => boolean
  /** Whether a file with this text is the one that was shown. */
  readonly proves: (path: string, text: string) => boolean
  /**
   * The lines of this text that were shown, in the open session or before. Other lines are empty. `part` is undefined if all
   * lines were shown.
   */
  readonly shownIn: (path: string, text: string, before?: SeenFile) => ShownPart
}

type ShownPart = { readonly text: string; readonly part?: FilePart }

const maxPaths = 1_000
/** The latest lines of one file. A file that is read often may have different lines each time. */
const maxShownLines = 20_000
/** Shorter lines occur in two files by chance. */
const minDistinctive = 8

export function createShown({ named, root }: SeenFilesOptions = {}): Shown {
  const walk = createFileWalk(named)
  const seen = createSeenFiles({ named, root })
  /** Trimmed lines by `pathKey`. */
  const shown = new Map<string, Set<string>>()
  /** Includes the edits since then. */
  const linesOf = (path: string): ReadonlySet<string> =>
    new Set([...(shown.get(pathKey(path, root)) ?? []), ...trimmedLines(seen.file(path)?.lines ?? [])])
  return {
    add: (message, record) => {
      seen.add(message, record)
      for (const touch of walk(message, record).touches) {
        const lines = trimmedLines(touch.type === 'read' ? (touch.shown()?.lines ?? []) : changedLines(touch))
        if (lines.length === 0) continue
        const key = pathKey(touch.path, root)
        const all = shown.get(key) ?? new Set()
        // Deleted first, so that the latest are the last.
        shown.delete(key)
        shown.set(key, all)
        for (const line of lines) {
          all.delete(line)
          all.add(line)
        }
        dropOldest(all, maxShownLines)
      }
      dropOldest(shown, maxPaths)
    },
    has: (path) => shown.has(pathKey(path, root)),
    proves: (path, text) => {
      const lines = linesOf(path)
      const now = new Set(trimmedLines(text.split('\n')))
      if ([...lines].some((line) => line.length >= minDistinctive && now.has(line))) return true
      return lines.size > 0 && [...lines].every((line) => now.has(line))
    },
    shownIn: (path, text, before) => {
      const inOrder = seen.file(path)?.lines ?? before?.lines ?? []
      return partOf(text.split('\n'), {
        lines: new Set([...linesOf(path), ...trimmedLines(before?.lines ?? [])]),
        inOrder,
      })
    },
  }
}

function trimmedLines(lines: readonly (string | undefined)[]): readonly string[] {
  return lines.map((line) => line?.trim() ?? '').filter((line) => line !== '')
}

function changedLines(touch: FileTouch): readonly string[] {
  if (touch.type === 'read') return []
  return [...(touch.text ?? '').split('\n'), ...addedLines(touch.edits)]
}

type ShownLines = {
  readonly lines: ReadonlySet<string>
  /** Each line at the place where it was shown, if that is known. */
  readonly inOrder: readonly (string | undefined)[]
}

/**
 * A line `key = 'abc'` that was shown as `key = '[redacted]'` comes back as shown. Omits lines that were never shown, and lines
 * that were changed and moved since.
 */
function partOf(now: readonly string[], known: ShownLines): ShownPart {
  const there = new Set(trimmedLines(now))
  const kept: (string | undefined)[] = now.map((line, at) => {
    if (isShownAt(at, line, known)) return line
    const before = known.inOrder[at]
    return before === undefined || before.trim() === '' || there.has(before.trim()) ? undefined : before
  })
  addShortLines(kept, now, known)
  const isNow = kept.every((line, at) => line === now[at])
  if (isNow) return { text: now.join('\n') }
  const numbers = (isWanted: (line: string, at: number) => boolean) =>
    stretchesOf(kept.flatMap((line, at) => (line !== undefined && isWanted(line, at) ? [at + 1] : [])))
  const part = { lines: numbers(() => true), differs: numbers((line, at) => line !== now[at]) }
  return { text: kept.map((line) => line ?? '').join('\n'), part }
}

/** A short line such as `}` occurs anywhere, so it must be in its place. */
function isShownAt(at: number, line: string, { lines, inOrder }: ShownLines): boolean {
  const text = line.trim()
  return text.length >= minDistinctive ? lines.has(text) : inOrder[at]?.trim() === text
}

/** Keeps short and empty lines that were shown next to kept lines. */
function addShortLines(kept: (string | undefined)[], now: readonly string[], { lines }: ShownLines): void {
  const add = (at: number, neighbor: number) => {
    const text = now[at]?.trim() ?? ''
    if (kept[at] === undefined && kept[neighbor] !== undefined && (text === '' || lines.has(text))) kept[at] = now[at]
  }
  for (let at = 1; at < now.length; at++) add(at, at - 1)
  for (let at = now.length - 2; at >= 0; at--) add(at, at + 1)
}

/** Turns rising numbers into ranges. */
export function stretchesOf(numbers: readonly number[]): readonly Lines[] {
  const stretches: Lines[] = []
  for (const line of numbers) {
    const [from = line, to] = stretches.at(-1) ?? []
    if (to === line - 1) stretches[stretches.length - 1] = [from, line]
    else stretches.push([line, line])
  }
  return stretches
}
