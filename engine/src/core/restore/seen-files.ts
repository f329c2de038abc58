// Files as a transcript last showed them: reads, writes and edits applied in order. It does not look at this machine's
// disk, so it works for sessions from elsewhere, at any point in them.

import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import { dropOldest } from '../message/maps.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FileStore } from '../ports/restore.ts'
import { type NamedKinds, pathKey } from '../tools/call.ts'
import type { TextEdit } from '../tools/patch.ts'
import { createFileWalk, type FileTouch, type ShownText } from './file-events.ts'

/** Lines that were never shown are undefined. */
type Lines = readonly (string | undefined)[]

export type SeenFile = {
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
}

export type SeenFilesOptions = {
  /** What the host's tools do, by name. */
  readonly named?: NamedKinds | undefined
  /** The workspace's folder: paths below it may be spelled with it or without. */
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
        // A command may print more than the file. What it may have changed is handled by `unsure`.
        if (touch.by === 'command') continue
        if (touch.type === 'changed') files.noteChange(touch)
        else files.noteShown(touch.path, touch.shown())
      }
    },
    file: (path) => files.known.get(pathKey(path, root)),
  }
}

/** Line numbers come from outputs and may be absurd. */
const maxLines = 1_000_000
/** A session of any length remembers this many files, the latest ones. */
const maxFiles = 1_000

class Files {
  /** By `pathKey`. */
  readonly known = new Map<string, SeenFile>()
  private readonly root: string | undefined

  constructor(root: string | undefined) {
    this.root = root
  }

  private get(path: string): SeenFile | undefined {
    return this.known.get(pathKey(path, this.root))
  }

  /** `isSure: false` if the text is derived from an earlier version. */
  private put(path: string, lines: Lines, { isWhole = true, isSure = true } = {}): void {
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

  /** A rule file that the client added because a file in its folder was read. */
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
    const lines: Lines | undefined = recorded ?? known?.lines
    if (!lines) return
    const isWhole = recorded !== undefined || known?.isWhole === true
    this.put(path, edited(lines, edits), { isWhole, isSure: recorded !== undefined })
    // It is unknown what was inserted, or where.
    if (edits.length === 0 || edits.some(({ before }) => before === '')) this.mark(path, 'isStale')
  }

  /** Adds the lines that were shown to what is known. */
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
 * A record of the client holds what a tool left out of its results, such as a secret: such a line stays as it was shown.
 * A file that has more or fewer lines now was changed by something else.
 */
function asShown(recorded: readonly string[], shown: Lines): Lines {
  const lengthOf = (lines: Lines) => (lines.at(-1) === '' ? lines.length - 1 : lines.length)
  if (lengthOf(recorded) !== lengthOf(shown)) return recorded
  const isOther = (line: string, at: number) => shown[at] !== undefined && shown[at] !== line
  const there = new Set(recorded)
  return recorded.map((line, at) => (isOther(line, at) && !there.has(shown[at] ?? '') ? shown[at] : line))
}

/** Every line that was shown is in its place. */
export function agrees(shown: Lines, now: readonly string[]): boolean {
  return shown.every((line, at) => line === undefined || line === now[at])
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
    const start = at
    while (at < lines.length && lines[at] === undefined) at++
    if (at > start) out.push(`[lines ${start + 1} to ${at} were never shown]`)
    const line = lines[at]
    if (line !== undefined) out.push(line)
  }
  return out.join('\n')
}
