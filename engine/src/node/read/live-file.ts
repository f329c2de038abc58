// Opens the live window of a transcript (what the next request is built from) by reading the file from its end. Memory
// depends on the size of the window, not of the file.
import { closeSync, fstatSync, openSync } from 'node:fs'
import { tornCompaction } from '../../core/transcript/format/compaction-records.ts'
import { editSubtype } from '../../core/transcript/format/edits.ts'
import { type Entry, type Head, headOf } from '../../core/transcript/format/entry.ts'
import { createTranscriptReader, type Format } from '../../core/transcript/format/foreign/reader.ts'
import { type LiveWindow, liveWindow } from '../../core/transcript/tree/live.ts'
import { openIndex } from '../index/sidecar.ts'
import { forEachEntry, type LineProblem, readLine, sniffFormat } from './entries.ts'
import { createTailReader, type TailReader } from './lines.ts'

export type LiveFile = {
  readonly path: string
  readonly format: Format
  /** In conversation order: boundary, summary, kept messages, what followed. */
  readonly entries: readonly Entry[]
  /** Everything that was read, in file order, including edits and side entries. */
  readonly read: readonly Entry[]
  readonly stop: LiveWindow['stop']
  /** Edits or half a compaction were read: the fold decides what a request contains. */
  readonly isEdited: boolean
  readonly bytesRead: number
  readonly isWhole: boolean
  readonly problems: readonly LineProblem[]
}

export function openLive(path: string): LiveFile {
  if ((sniffFormat(path) ?? 'claude-code') !== 'claude-code') return openWhole(path)
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    return openFromTail(path, createTailReader(file, size), size)
  } finally {
    closeSync(file)
  }
}

/** Foreign records are converted in order, so these files are read from the start. */
function openWhole(path: string): LiveFile {
  const loaded: Loaded[] = []
  const { format, bytes, problems } = forEachEntry(path, (entry) => loaded.push({ entry, head: headOf(entry) }))
  return { path, ...selected(loaded, windowOf(loaded)), format, bytesRead: bytes, isWhole: true, problems }
}

type Loaded = { readonly entry: Entry; readonly head: Head }

/**
 * Reads back to the last boundary, and one more epoch if the window refers to something earlier. What is still missing
 * then is looked up in the index: it may be far back or not in the file at all.
 */
function openFromTail(path: string, tail: TailReader, size: number): LiveFile {
  const problems: LineProblem[] = []
  let loaded: readonly Loaded[] = []
  let target = size
  let isLookedUp = false
  for (;;) {
    loaded = [...readBack(tail, target, problems), ...loaded]
    const live = windowOf(loaded)
    const missing = tail.start() === 0 ? [] : live.missing
    if (missing.length > 0 && !isLookedUp) {
      isLookedUp = target < size
      target = isLookedUp ? earliestOf(path, missing, tail.start()) : tail.start() - 1
    } else if (missing.length > 0 || tail.start() === 0 || hasMargin(live)) {
      const read = { bytesRead: size - tail.start(), isWhole: tail.start() === 0 }
      return { path, format: 'claude-code', ...selected(loaded, live), ...read, problems }
    } else target = tail.start() - 1
  }
}

/** Reads blocks until the target offset is reached and a block contains a boundary of the main conversation. */
function readBack(tail: TailReader, target: number, problems: LineProblem[]): readonly Loaded[] {
  const blocks: Loaded[][] = []
  for (let lines = tail.earlier(); lines !== undefined; lines = tail.earlier()) {
    const block: Loaded[] = []
    const visit = (entry: Entry) => block.push({ entry, head: headOf(entry) })
    const reader = createTranscriptReader()
    for (const line of lines) readLine(line, { reader, visit, problems })
    blocks.push(block)
    if (tail.start() <= target && block.some(({ head }) => head.boundary && !head.sidechain)) break
  }
  return blocks.reverse().flat()
}

function windowOf(loaded: readonly Loaded[]): LiveWindow {
  return liveWindow(loaded.map(({ head }) => head))
}

function earliestOf(path: string, uuids: readonly string[], start: number): number {
  const index = openIndex(path)
  return Math.min(start, ...uuids.map((uuid) => index.find(uuid)?.offset ?? start))
}

/** The lines of one answer lie close together: with this many lines before the window, none of them is cut off. */
const linesOfOneAnswer = 100

function hasMargin(live: LiveWindow): boolean {
  return live.order.every((row) => row >= linesOfOneAnswer)
}

function selected(loaded: readonly Loaded[], live: LiveWindow) {
  const entries = live.order.flatMap((index) => loaded[index]?.entry ?? [])
  const read = loaded.map(({ entry }) => entry)
  const isEdited = read.some(({ record }) => record.subtype === editSubtype) || tornCompaction(read) !== undefined
  return { entries, read, stop: live.stop, isEdited }
}
