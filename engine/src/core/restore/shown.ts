// What the tools of an open session demonstrably showed of files. A refused read often has no error flag and may say
// anything in any language, so wording does not count: lines of the result must occur in the file.
import { textOf } from '../message/block.ts'
import { dropOldest } from '../message/drop-oldest.ts'
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { isPointer } from '../tokens/file-reads.ts'
import { isVouched, type NamedKinds } from '../tools/call.ts'
import { pathKey } from '../tools/paths.ts'
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

type Sight = {
  readonly lines: readonly string[]
  /** It came with line numbers, or with the client's own record: no refusal looks like that. */
  readonly isFormatted: boolean
}

const mostPaths = 1_000
const mostLines = 60

export function createShown({ named, root }: ShownOptions = {}): Shown {
  const walk = createFileWalk(named)
  const sights = new Map<string, Sight>()
  return {
    add: (message, record) => {
      for (const touch of walk(message, record).touches) {
        const sight = sightOf(touch, named)
        if (!sight) continue
        const key = pathKey(touch.path, root)
        const lines = [...(sights.get(key)?.lines ?? []), ...sight.lines].slice(-mostLines)
        const isFormatted = sight.isFormatted || sights.get(key)?.isFormatted === true
        sights.delete(key)
        sights.set(key, { lines, isFormatted })
      }
      dropOldest(sights, mostPaths)
    },
    has: (path) => sights.has(pathKey(path, root)),
    proves: (path, text, { isInside }) => {
      const sight = sights.get(pathKey(path, root))
      return sight !== undefined && ((sight.isFormatted && isInside) || isFoundIn(sight.lines, text))
    },
  }
}

/** Shorter lines occur in two files by chance. */
const distinctive = 8

function isFoundIn(lines: readonly string[], text: string): boolean {
  const there = new Set(text.split('\n').map((line) => line.trim()))
  if (lines.some((line) => line.length >= distinctive && there.has(line))) return true
  return lines.length > 0 && lines.every((line) => there.has(line))
}

function sightOf(touch: FileTouch, named: NamedKinds | undefined): Sight | undefined {
  if (touch.type === 'attached') return attachedSight(touch)
  const sight = touch.type === 'read' ? readSight(touch, named) : changeSight(touch)
  return sight.lines.length === 0 ? undefined : sight
}

function attachedSight({ attachment }: Extract<FileTouch, { type: 'attached' }>): Sight | undefined {
  const { content } = attachment
  const text = typeof content === 'string' ? content : stringAt(objectAt(content, 'file'), 'content')
  return text === undefined ? undefined : { lines: sample(text.split('\n')), isFormatted: true }
}

function readSight({ lines: [from], by }: Extract<FileTouch, { type: 'read' }>, named: NamedKinds | undefined): Sight {
  const { call, result, raw } = by
  const record = stringAt(objectAt(raw, 'file'), 'content')
  if (record === undefined && isPointer(result)) return { lines: [], isFormatted: false }
  const shown = shownLines(record ?? textOf([result]), from)
  const isNumbered = shown?.isNumbered === true && shown.start === from
  const isReader = call.type !== 'command' && isVouched(call.name, named)
  return { lines: sample(shown?.lines ?? []), isFormatted: isReader && (record !== undefined || isNumbered) }
}

function changeSight({ text = '', edits }: Extract<FileTouch, { type: 'changed' }>): Sight {
  const lines = edits.flatMap(({ before, after }) => {
    const old = new Set(before.split('\n'))
    return after.split('\n').filter((line) => !old.has(line))
  })
  return { lines: sample([...text.split('\n'), ...lines]), isFormatted: false }
}

/** Lines from the whole text, so that enough of them survive a change in one place. */
function sample(lines: readonly string[]): readonly string[] {
  const full = lines.map((line) => line.trim()).filter((line) => line !== '')
  const step = Math.max(1, Math.ceil(full.length / (mostLines / 2)))
  return full.filter((_, at) => at % step === 0)
}

const numberedLine = /^ *(\d+)(?:→|\t|: |\| )(.*)$/

type ShownLines = { readonly start: number; readonly lines: readonly string[]; readonly isNumbered: boolean }

/** The lines of a read without the line numbers that most agents put in front. */
export function shownLines(text: string, from: number): ShownLines | undefined {
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
