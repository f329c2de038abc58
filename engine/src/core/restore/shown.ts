// What the tools of an open session showed of files, line by line. Only these lines are restored: a tool may have refused
// to read a file, or replaced a secret in it, and neither says so in a form that code could rely on.

import type { JsonObject } from '../message/json.ts'
import { dropOldest } from '../message/maps.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FilePart } from '../ports/restore.ts'
import { type Lines, type NamedKinds, pathKey } from '../tools/call.ts'
import { addedLines } from '../tools/patch.ts'
import { createFileWalk, type FileTouch } from './file-events.ts'
import { createSeenFiles, type SeenFile } from './seen-files.ts'

export type Shown = {
  /** Every message that came while the session was open, in order. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** A result claims to have shown or changed this file. `proves` checks the claim. */
  readonly has: (path: string) => boolean
  /** Whether a file with this text is the one that was shown. */
  readonly proves: (path: string, text: string) => boolean
  /**
   * The lines of this text that were shown, to the open session or before it was opened; the others are empty. Without
   * `part`, all of them were.
   */
  readonly shownIn: (path: string, text: string, before?: SeenFile) => ShownText
}

type ShownText = { readonly text: string; readonly part?: FilePart }

export type ShownOptions = { readonly named?: NamedKinds | undefined; readonly root?: string | undefined }

const maxPaths = 1_000
/** Of one file, the latest. A file that is read again and again may have different lines each time. */
const maxLines = 20_000
/** Shorter lines occur in two files by chance. */
const distinctive = 8

export function createShown({ named, root }: ShownOptions = {}): Shown {
  const walk = createFileWalk(named)
  const seen = createSeenFiles({ named, root })
  /** Lines without the white space around them, by `pathKey`. */
  const shown = new Map<string, Set<string>>()
  /** With the edits that were made since. */
  const linesOf = (path: string): ReadonlySet<string> =>
    new Set([...(shown.get(pathKey(path, root)) ?? []), ...full(seen.file(path)?.lines ?? [])])
  return {
    add: (message, record) => {
      seen.add(message, record)
      for (const touch of walk(message, record).touches) {
        const lines = full(touch.type === 'read' ? (touch.shown()?.lines ?? []) : changedLines(touch))
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
        dropOldest(all, maxLines)
      }
      dropOldest(shown, maxPaths)
    },
    has: (path) => shown.has(pathKey(path, root)),
    proves: (path, text) => {
      const lines = linesOf(path)
      const now = new Set(full(text.split('\n')))
      if ([...lines].some((line) => line.length >= distinctive && now.has(line))) return true
      return lines.size > 0 && [...lines].every((line) => now.has(line))
    },
    shownIn: (path, text, before) => {
      const inOrder = seen.file(path)?.lines ?? before?.lines ?? []
      return partOf(text.split('\n'), { lines: new Set([...linesOf(path), ...full(before?.lines ?? [])]), inOrder })
    },
  }
}

function full(lines: readonly (string | undefined)[]): readonly string[] {
  return lines.map((line) => line?.trim() ?? '').filter((line) => line !== '')
}

function changedLines(touch: FileTouch): readonly string[] {
  if (touch.type === 'read') return []
  return [...(touch.text ?? '').split('\n'), ...addedLines(touch.edits)]
}

type Known = {
  readonly lines: ReadonlySet<string>
  /** In the place where each was shown, as far as that is known. */
  readonly inOrder: readonly (string | undefined)[]
}

/**
 * `key = 'abc'` that was shown as `key = '[redacted]'` comes back as it was shown. A line that was not shown at all, and one
 * that was changed and moved since, is left out.
 */
function partOf(now: readonly string[], known: Known): ShownText {
  const there = new Set(full(now))
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

/** `}` occurs anywhere: a short line must be in its place. */
function isShownAt(at: number, line: string, { lines, inOrder }: Known): boolean {
  const text = line.trim()
  return text.length >= distinctive ? lines.has(text) : inOrder[at]?.trim() === text
}

/** Short lines that were shown, and empty ones, next to lines that are kept. */
function addShortLines(kept: (string | undefined)[], now: readonly string[], { lines }: Known): void {
  const add = (at: number, neighbor: number) => {
    const text = now[at]?.trim() ?? ''
    if (kept[at] === undefined && kept[neighbor] !== undefined && (text === '' || lines.has(text))) kept[at] = now[at]
  }
  for (let at = 1; at < now.length; at++) add(at, at - 1)
  for (let at = now.length - 2; at >= 0; at--) add(at, at + 1)
}

/** Numbers in rising order as ranges. */
export function stretchesOf(numbers: readonly number[]): readonly Lines[] {
  const stretches: Lines[] = []
  for (const line of numbers) {
    const [from = line, to] = stretches.at(-1) ?? []
    if (to === line - 1) stretches[stretches.length - 1] = [from, line]
    else stretches.push([line, line])
  }
  return stretches
}
