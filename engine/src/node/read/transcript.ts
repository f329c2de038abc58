// Reads a transcript on disk: the live window from the end of the file, or everything. If a large file is read whole, only its
// end is kept; older entries have their long texts shortened and are read again if the view shows them. Writes nothing.

import { closeSync, fstatSync, openSync } from 'node:fs'
import { defined, isObject, type JsonObject } from '../../core/message/json.ts'
import {
  type Cutoff,
  createCutoff,
  createFacts,
  type EntryName,
  requireReached,
  type Transcript,
  transcriptOf,
} from '../../core/session/transcript.ts'
import { decodeLine } from '../../core/transcript/format/decode.ts'
import { editSubtype } from '../../core/transcript/format/edits.ts'
import { type Entry, type Head, readHead } from '../../core/transcript/format/entry.ts'
import { createRecordReader, createTranscriptReader } from '../../core/transcript/format/reader.ts'
import { isSelfContained } from '../../core/transcript/tree/changes.ts'
import { type LiveWindow, liveWindow } from '../../core/transcript/tree/live.ts'
import type { View } from '../../core/transcript/view/fold.ts'
import { openIndex } from '../index/sidecar.ts'
import { blocksFromEnd, forEachEntry, forEachLine, type Line, readLine, sniffFormat } from './entries.ts'

export type ReadOptions = {
  /** Reads only up to this entry. For a boundary, reads the input of its compaction. */
  readonly before?: EntryName | undefined
  /** All entries. Default: those that the live window needs, unless `before` or `wholeBytes` is given. */
  readonly whole?: boolean | undefined
  /** Bytes at the end of the file whose entries are kept whole. Default: 64 MB. */
  readonly wholeBytes?: number | undefined
  /** Also reads the facts, for callers that will need them. Otherwise a large file is read a second time. */
  readonly withFacts?: boolean
  readonly onProgress?: (bytesDone: number, bytesAll: number) => void
}

/** Throws a StoreError if no entry matches `before`, and the system's error if the file cannot be read. */
export function readTranscript(path: string, options: ReadOptions = {}): Transcript {
  const { whole, before, wholeBytes } = options
  return whole || before !== undefined || wholeBytes !== undefined ? readAll(path, options) : readWindow(path)
}

/** Facts about the whole session are read from the file on first use. */
function readWindow(path: string): Transcript {
  const { entries, bytes } = windowEntries(path)
  const eachWhole = (visit: (entry: Entry) => void) => void forEachEntry(path, visit)
  const format = sniffFormat(path) ?? 'claude-code'
  return transcriptOf({
    path,
    format,
    bytes,
    entries,
    cutoff: createCutoff(undefined),
    whole: () => entries,
    eachWhole,
  })
}

/** Everything, if an edit refers to entries before the window. */
export function windowEntries(path: string) {
  const { read, isWhole, bytes } = openLive(path)
  if (isWhole || isSelfContained(read)) return { entries: read, isWhole, bytes }
  return { entries: allEntries(path), isWhole: true, bytes }
}

export function allEntries(path: string): readonly Entry[] {
  const entries: Entry[] = []
  forEachEntry(path, (entry) => entries.push(entry))
  return entries
}

function readAll(path: string, options: ReadOptions): Transcript {
  const { wholeBytes = 64 << 20, before, withFacts, onProgress } = options
  const entries: Entry[] = []
  const cutoff = createCutoff(before)
  const facts = withFacts ? createFacts() : undefined
  let shortened = 0
  let held = 0
  const { format, bytes } = forEachEntry(
    path,
    (entry) => {
      if (!cutoff.includes(entry.record)) return
      facts?.add(entry)
      entries.push(entry)
      for (held += entry.position.length; held > wholeBytes && shortened < entries.length; shortened++) {
        const oldest = entries[shortened] as Entry
        held -= oldest.position.length
        entries[shortened] = withShortTexts(oldest)
      }
    },
    defined({ onProgress }),
  )
  requireReached(cutoff, path)
  const eachWhole = (visit: (entry: Entry) => void) => {
    if (shortened === 0) return entries.forEach(visit)
    const { includes } = createCutoff(before)
    forEachEntry(path, (entry) => includes(entry.record) && visit(entry))
  }
  const whole = (views: readonly View[]) => {
    const shown = new Set<unknown>(
      views.flatMap(({ sources, pins }) => [...sources.flatMap(({ uuids }) => uuids), ...pins]),
    )
    if (!entries.slice(0, shortened).some(({ record }) => shown.has(record.uuid))) return entries
    const replaced = [...entries]
    let at = 0
    eachWhole((entry) => {
      if (at < shortened && shown.has(entry.record.uuid)) replaced[at] = entry
      at++
    })
    return replaced
  }
  return transcriptOf({ path, format, bytes, entries, cutoff, whole, eachWhole, facts })
}

/** Every record up to that entry, in file order, for a copy to append to. */
export function forEachRecordAt(
  { path, format }: Pick<Transcript, 'path' | 'format'>,
  { before }: Pick<ReadOptions, 'before'>,
  visit: (record: JsonObject) => void,
): void {
  const cutoff = createCutoff(before)
  // A session in our format gets only the converted records of another agent.
  const isOurs = (record: JsonObject) => format === 'claude-code' || typeof record.uuid === 'string'
  if (format === 'pi') forEachLine(path, (line) => recordsBefore(line, cutoff).forEach(visit))
  else forEachEntry(path, ({ record }) => cutoff.includes(record) && isOurs(record) && visit(record))
}

/** pi continues from a copy only if it is in pi's format. */
function recordsBefore({ buffer, start, end, ...line }: Line, { includes }: Cutoff): readonly JsonObject[] {
  const { records } = decodeLine(buffer.toString('utf8', start, end))
  const read = createRecordReader('pi')
  const position = { line: line.number, offset: line.offset, length: end - start, nth: 0 }
  return records.filter((record) =>
    read(record, position)
      .map((entry) => includes(entry.record))
      .at(-1),
  )
}

const longText = 300

/** Keeps all fields that the tree and the edits need. */
function withShortTexts(entry: Entry): Entry {
  const { record, position } = entry
  const short = record.subtype === editSubtype ? record : shorten(record)
  return short === record ? entry : { record: short, position }
}

/** Copies only what changes: this runs on every value of every record of a large file. */
function shorten<T>(value: T): T
function shorten(value: unknown): unknown {
  if (typeof value === 'string') return value.length > longText ? detached(value.slice(0, longText)) : value
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => shorten(item))
    return items.every((item, at) => item === value[at]) ? value : items
  }
  if (!isObject(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const short = shorten(value[key])
    if (short === value[key]) continue
    copy ??= { ...value }
    copy[key] = short
  }
  return copy ?? value
}

/** A slice would keep the whole original text in memory. */
function detached(text: string): string {
  return Buffer.from(text).toString()
}

// The live window (what the next request is built from), read from the end of the file. Memory depends on the size of the window,
// not of the file.

export type LiveFile = {
  /** In conversation order: boundary, summary, kept messages, what followed. */
  readonly entries: readonly Entry[]
  /** Everything that was read, in file order, including edits and side entries. */
  readonly read: readonly Entry[]
  readonly stop: LiveWindow['stop']
  readonly bytesRead: number
  /** Size of the file. */
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
  return { ...withLiveEntries(loaded, windowOf(loaded)), bytesRead: bytes, bytes, isWhole: true }
}

type Loaded = { readonly entry: Entry; readonly head: Head }

/** The unread part, and the start of the part that was read. */
type UnreadTail = { readonly blocks: Iterator<readonly Line[], void>; start: number }

/**
 * Reads back to the last boundary, and one more epoch if the window refers to something earlier. Anything still missing is looked
 * up in the index, because it may be far back or not in the file at all.
 */
function openFromTail(path: string, tail: UnreadTail, size: number): Omit<LiveFile, 'bytes'> {
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
      return { ...withLiveEntries(loaded, live), bytesRead: size - tail.start, isWhole: tail.start === 0 }
    } else target = tail.start - 1
  }
}

/** Reads blocks until the target offset is reached and a block contains a boundary of the main conversation. */
function readBack(tail: UnreadTail, target: number): readonly Loaded[] {
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

/** The lines of one answer are close together. With this many lines before the window, no answer is cut off. */
const linesOfOneAnswer = 100

function hasMargin(live: LiveWindow): boolean {
  return live.order.every((row) => row >= linesOfOneAnswer)
}

function withLiveEntries(loaded: readonly Loaded[], live: LiveWindow) {
  const entries = live.order.flatMap((index) => loaded[index]?.entry ?? [])
  const read = loaded.map(({ entry }) => entry)
  return { entries, read, stop: live.stop }
}
