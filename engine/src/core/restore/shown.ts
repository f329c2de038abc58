// What the tools of an open session demonstrably showed of files. A refused read often has no error flag and may say
// anything in any language, so wording does not count: it must look like a file, or its lines must occur in the file.
import { dropOldest } from '../message/drop-oldest.ts'
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { type NamedKinds, pathKey } from '../tools/call.ts'
import { addedLines } from '../tools/patch.ts'
import { createFileWalk, type FileTouch } from './file-events.ts'

export type Shown = {
  /** Every message that came while the session was open, in order. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** A result claims to have shown or changed this file. `proves` checks the claim. */
  readonly has: (path: string) => boolean
  /** Whether a file with this text is the one that was shown. */
  readonly proves: (path: string, text: string, where: { readonly isInside: boolean }) => boolean
}

export type ShownOptions = { readonly named?: NamedKinds | undefined; readonly root?: string | undefined }

const mostPaths = 1_000
const mostLines = 60
/** Shorter lines occur in two files by chance. */
const distinctive = 8

export function createShown({ named, root }: ShownOptions = {}): Shown {
  const walk = createFileWalk(named)
  const shown = new Map<string, { readonly lines: readonly string[]; readonly isFormatted: boolean }>()
  return {
    add: (message, record) => {
      for (const touch of walk(message, record).touches) {
        const text = touch.type === 'read' ? touch.shown() : undefined
        const lines = sample(text?.lines ?? changedLines(touch))
        if (lines.length === 0) continue
        const key = pathKey(touch.path, root)
        const known = shown.get(key)
        const isFormatted = text?.isFormatted === true || known?.isFormatted === true
        shown.delete(key)
        shown.set(key, { lines: [...(known?.lines ?? []), ...lines].slice(-mostLines), isFormatted })
      }
      dropOldest(shown, mostPaths)
    },
    has: (path) => shown.has(pathKey(path, root)),
    proves: (path, text, { isInside }) => {
      const { lines = [], isFormatted = false } = shown.get(pathKey(path, root)) ?? {}
      // Inside the workspace a file may have changed completely since.
      if (isFormatted && isInside) return true
      const there = new Set(text.split('\n').map((line) => line.trim()))
      if (lines.some((line) => line.length >= distinctive && there.has(line))) return true
      return lines.length > 0 && lines.every((line) => there.has(line))
    },
  }
}

function changedLines(touch: FileTouch): readonly string[] {
  if (touch.type === 'read') return []
  return [...(touch.text ?? '').split('\n'), ...addedLines(touch.edits)]
}

/** Lines from the whole text, so that enough of them survive a change in one place. */
function sample(lines: readonly string[]): readonly string[] {
  const full = lines.map((line) => line.trim()).filter((line) => line !== '')
  const step = Math.max(1, Math.ceil(full.length / (mostLines / 2)))
  return full.filter((_, at) => at % step === 0)
}
