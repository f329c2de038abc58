// Opens the live window of a transcript from the tail of its file: what the next request would be made of, in the
// memory of that window, however long the history before it is.
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
  /** In the order of the conversation: boundary, summary, kept messages, what followed. */
  readonly entries: readonly Entry[]
  /** Everything that was read on the way, in the order of the file: edits and side entries too. */
  readonly read: readonly Entry[]
  readonly stop: LiveWindow['stop']
  /** How many entries were found on side branches. */
  readonly recovered: number
  /** Edits of ours were read, or half a compaction: the window is what was said, and what a request carries is the fold's to say. */
  readonly isEdited: boolean
  /** How much of the file was read. */
  readonly bytesRead: number
  /** Whether that was all of it. */
  readonly isWhole: boolean
  /** Of the part that was read. */
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

/** Foreign records are converted in order, so those files are read from their start. */
function openWhole(path: string): LiveFile {
  const loaded: Loaded[] = []
  const report = forEachEntry(path, (entry) => loaded.push({ entry, head: headOf(entry) }))
  const live = windowOf(loaded)
  return {
    path,
    ...chosen(loaded, live),
    format: report.format,
    bytesRead: report.bytes,
    isWhole: true,
    problems: report.problems,
  }
}

type Loaded = { readonly entry: Entry; readonly head: Head }

/**
 * Reads back to the last boundary, and further while something that belongs to the window is not there yet. What is
 * not found within one more epoch is looked up in the index: it may be far back, or nowhere (then nobody can have it).
 */
function openFromTail(path: string, tail: TailReader, size: number): LiveFile {
  const problems: LineProblem[] = []
  let loaded: readonly Loaded[] = []
  let reachTo = size
  let asked = false
  for (;;) {
    const more = readBack(tail, { until: reachTo, problems })
    loaded = [...more, ...loaded]
    const live = windowOf(loaded)
    const missing = tail.start() === 0 ? [] : live.missing
    if (missing.length > 0 && !asked) {
      // One more epoch first, then a certain answer.
      asked = reachTo < size
      reachTo = asked ? earliestOf(path, missing, tail.start()) : tail.start() - 1
    } else if (missing.length > 0 || tail.start() === 0 || hasRoom(live)) {
      const read = { bytesRead: size - tail.start(), isWhole: tail.start() === 0 }
      return { path, format: 'claude-code', ...chosen(loaded, live), ...read, problems }
    } else reachTo = tail.start() - 1
  }
}

/** Reads blocks until one holds a boundary of the main conversation and the offset asked for is reached. */
function readBack(
  tail: TailReader,
  options: { readonly until: number; readonly problems: LineProblem[] },
): readonly Loaded[] {
  const blocks: Loaded[][] = []
  for (;;) {
    const lines = tail.earlier()
    if (lines === undefined) break
    const block: Loaded[] = []
    const sink = {
      reader: createTranscriptReader(),
      visit: (entry: Entry) => block.push({ entry, head: headOf(entry) }),
      problems: options.problems,
    }
    for (const line of lines) readLine(line, sink)
    blocks.push(block)
    if (tail.start() <= options.until && block.some(({ head }) => head.boundary && !head.sidechain)) break
  }
  return blocks.reverse().flat()
}

function windowOf(loaded: readonly Loaded[]): LiveWindow {
  return liveWindow(loaded.map(({ head }) => head))
}

/** Where the earliest of these lies, if any is in the file at all; else where we are. */
function earliestOf(path: string, uuids: readonly string[], start: number): number {
  const index = openIndex(path)
  return Math.min(start, ...uuids.map((uuid) => index.find(uuid)?.offset ?? start))
}

/** The lines of one answer lie close together: with so many lines before the window none of them is cut off. */
function hasRoom(live: LiveWindow): boolean {
  return live.order.every((row) => row >= linesOfOneAnswer)
}

const linesOfOneAnswer = 100

function chosen(
  loaded: readonly Loaded[],
  live: LiveWindow,
): Pick<LiveFile, 'entries' | 'read' | 'stop' | 'recovered' | 'isEdited'> {
  const entries = live.order.map((index) => loaded[index]?.entry).filter((entry) => entry !== undefined)
  const read = loaded.map(({ entry }) => entry)
  const isEdited = read.some(({ record }) => record.subtype === editSubtype) || tornCompaction(read) !== undefined
  return { entries, read, stop: live.stop, recovered: live.recovered, isEdited }
}
