// Opens the live window of a transcript (what the next request is built from) by reading the file from its end. Memory
// depends on the size of the window, not of the file.
import { closeSync, fstatSync, openSync } from 'node:fs'
import { readCompaction } from '../../core/transcript/format/compaction-records.ts'
import { editSubtype } from '../../core/transcript/format/edits.ts'
import { type Entry, type Head, readHead } from '../../core/transcript/format/entry.ts'
import { createTranscriptReader } from '../../core/transcript/format/reader.ts'
import { tornCompaction } from '../../core/transcript/tree/changes.ts'
import { type LiveWindow, liveWindow } from '../../core/transcript/tree/live.ts'
import { openIndex } from '../index/sidecar.ts'
import { blocksFromEnd, forEachEntry, type Line, readLine, sniffFormat } from './entries.ts'

export type LiveFile = {
  /** In conversation order: boundary, summary, kept messages, what followed. */
  readonly entries: readonly Entry[]
  /** Everything that was read, in file order, including edits and side entries. */
  readonly read: readonly Entry[]
  readonly stop: LiveWindow['stop']
  /** Edits, a compaction of ours or half of one were read: the fold decides what a request contains and how large it is. */
  readonly isEdited: boolean
  readonly bytesRead: number
  /** Of the file. */
  readonly bytes: number
  readonly isWhole: boolean
}

export function openLive(path: string): LiveFile {
  if ((sniffFormat(path) ?? 'claude-code') !== 'claude-code') return openWhole(path)
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    return { ...openFromTail(path, { blocks: blocksFromEnd(file, size), start: size }, size), bytes: size }
  } finally {
    closeSync(file)
  }
}

/** Foreign records are converted in order, so these files are read from the start. */
function openWhole(path: string): LiveFile {
  const loaded: Loaded[] = []
  const { bytes } = forEachEntry(path, (entry) => loaded.push({ entry, head: readHead(entry) }))
  return { ...selected(loaded, windowOf(loaded)), bytesRead: bytes, bytes, isWhole: true }
}

type Loaded = { readonly entry: Entry; readonly head: Head }

/** What is left to read, and where what was read starts. */
type Tail = { readonly blocks: Iterator<readonly Line[], void>; start: number }

/**
 * Reads back to the last boundary, and one more epoch if the window refers to something earlier. What is still missing
 * then is looked up in the index: it may be far back or not in the file at all.
 */
function openFromTail(path: string, tail: Tail, size: number): Omit<LiveFile, 'bytes'> {
  let loaded: readonly Loaded[] = []
  let target = size
  let isLookedUp = false
  for (;;) {
    loaded = [...readBack(tail, target), ...loaded]
    const live = windowOf(loaded)
    const missing = tail.start === 0 ? [] : live.missing
    if (missing.length > 0 && !isLookedUp) {
      isLookedUp = target < size
      target = isLookedUp ? earliestOf(path, missing, tail.start) : tail.start - 1
    } else if (missing.length > 0 || tail.start === 0 || hasMargin(live)) {
      return { ...selected(loaded, live), bytesRead: size - tail.start, isWhole: tail.start === 0 }
    } else target = tail.start - 1
  }
}

/** Reads blocks until the target offset is reached and a block contains a boundary of the main conversation. */
function readBack(tail: Tail, target: number): readonly Loaded[] {
  const blocks: Loaded[][] = []
  for (let next = tail.blocks.next(); !next.done; next = tail.blocks.next()) {
    const block: Loaded[] = []
    const sink = {
      reader: createTranscriptReader(),
      visit: (entry: Entry) => block.push({ entry, head: readHead(entry) }),
    }
    for (const line of next.value) readLine(line, sink)
    blocks.push(block)
    tail.start = next.value[0]?.offset ?? 0
    if (tail.start <= target && block.some(({ head }) => head.boundary && !head.sidechain)) break
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
  const isOurs = ({ record }: Entry) =>
    record.subtype === editSubtype || readCompaction(record).size.after !== undefined
  const isEdited = read.some(isOurs) || tornCompaction(read) !== undefined
  return { entries, read, stop: live.stop, isEdited }
}
