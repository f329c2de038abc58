// Reads a transcript on disk: the live window from the end of the file, or everything. Of a large file that is read whole only the
// end is kept; older entries have their long texts shortened and are read again if the view shows them. It writes nothing.
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
import type { Entry } from '../../core/transcript/format/entry.ts'
import { createRecordReader } from '../../core/transcript/format/reader.ts'
import { isSelfContained } from '../../core/transcript/tree/changes.ts'
import type { View } from '../../core/transcript/view/fold.ts'
import { forEachEntry, forEachLine, type Line, sniffFormat } from './entries.ts'
import { openLive } from './live-file.ts'

export type ReadOptions = {
  /** Only what precedes this entry; for a boundary, what its compaction worked on. */
  readonly before?: EntryName | undefined
  /** All entries. Default: those that the live window needs, unless `before` or `wholeBytes` is given. */
  readonly whole?: boolean | undefined
  /** Bytes at the end of the file whose entries are kept whole. Default: 64 MB. */
  readonly wholeBytes?: number | undefined
  /** Reads the facts on the way, for callers that will ask for them: otherwise a large file is read once more. */
  readonly withFacts?: boolean
  readonly onProgress?: (bytesDone: number, bytesAll: number) => void
}

/** Throws a StoreError if `before` is in no entry, and the system's error if the file cannot be read. */
export function readTranscript(path: string, options: ReadOptions = {}): Transcript {
  const { whole, before, wholeBytes } = options
  return whole || before !== undefined || wholeBytes !== undefined ? readAll(path, options) : readWindow(path)
}

/** Facts about the whole session are read from the file when they are asked for. */
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

/** Every record up to there, in file order: for a copy to append to. */
export function forEachRecordAt(
  { path, format }: Pick<Transcript, 'path' | 'format'>,
  { before }: Pick<ReadOptions, 'before'>,
  visit: (record: JsonObject) => void,
): void {
  const cutoff = createCutoff(before)
  // Of another agent's records only the converted ones belong into a session in our format.
  const isOurs = (record: JsonObject) => format === 'claude-code' || typeof record.uuid === 'string'
  if (format === 'pi') forEachLine(path, (line) => recordsBefore(line, cutoff).forEach(visit))
  else forEachEntry(path, ({ record }) => cutoff.includes(record) && isOurs(record) && visit(record))
}

/** pi continues from a copy only if it is in its own format. */
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

/** Keeps everything the tree and the edits are made of. */
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
