// Opens the view of a transcript on disk: all of its entries and edits, folded. Of a large file only the end is kept
// whole; older entries have their long texts shortened and are read again if the view shows them. It writes nothing.
import { textOf } from '../../core/message/block.ts'
import { isObject, type JsonObject, objectAt } from '../../core/message/json.ts'
import { readBoundary } from '../../core/transcript/format/boundary.ts'
import { undoOfTorn } from '../../core/transcript/format/compaction-records.ts'
import { type EditPlace, editSubtype, readEdit } from '../../core/transcript/format/edits.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import type { Format } from '../../core/transcript/format/foreign/reader.ts'
import { lastAction, type Undoable } from '../../core/transcript/tree/changes.ts'
import { createFold, foldEntries, type View } from '../../core/transcript/view/fold.ts'
import { forEachEntry } from './entries.ts'

export type ViewFile = {
  readonly path: string
  readonly format: Format
  readonly bytes: number
  readonly view: View
  /** The view that the newest answer was given: without the edits written since. The same object if there are none. */
  readonly answered: View
  /** In a large file, entries outside the view have their long texts shortened. */
  readonly entry: (uuid: string) => Entry | undefined
  readonly lastAction: readonly Undoable[]
  readonly place: Omit<EditPlace, 'uuid' | 'timestamp'>
}

export type ViewFileOptions = Pick<LoadOptions, 'wholeBytes' | 'onProgress'>

export function openView(path: string, options: ViewFileOptions = {}): ViewFile {
  const loaded = loadEntries(path, options)
  const { entries, format, bytes } = loaded
  const first = folded(entries)
  const whole = wholeEntries(loaded, [first.view, first.answered])
  const views = whole === entries ? first : folded(whole)
  const actions = lastAction(withoutTornCompaction(entries))
  return { path, format, bytes, ...views, lastAction: actions, place: placeOf(entries) }
}

function folded(entries: readonly Entry[]): Pick<ViewFile, 'view' | 'answered' | 'entry'> {
  const fold = createFold()
  for (const entry of withoutTornCompaction(entries)) fold.add(entry)
  const view = fold.view()
  const answer = entries.findLastIndex(({ record }) => isAnswer(record))
  const isSince = (entry: Entry, at: number) => at > answer && readEdit(entry.record) !== undefined
  const known = entries.some(isSince) ? entries.filter((entry, at) => !isSince(entry, at)) : undefined
  return { view, answered: known ? foldEntries(withoutTornCompaction(known)) : view, entry: fold.entry }
}

function isAnswer({ type, isSidechain, agentId }: JsonObject): boolean {
  // In a sub-agent's own file its answers are the conversation.
  return type === 'assistant' && (isSidechain !== true || typeof agentId === 'string')
}

/** Fields that clients put on every record. */
export const envelopeKeys = ['userType', 'entrypoint', 'cwd', 'version', 'gitBranch', 'slug'] as const

/** After the newest record of the main conversation; in a sub-agent's file, after its newest. */
function placeOf(entries: readonly Entry[]): ViewFile['place'] {
  // Nothing continues from a progress record.
  const isTip = ({ record }: Entry) => typeof record.uuid === 'string' && record.type !== 'progress'
  const main = entries.findLast((entry) => isTip(entry) && entry.record.isSidechain !== true)
  const tip = (main ?? entries.findLast(isTip))?.record ?? {}
  return {
    parentUuid: typeof tip.uuid === 'string' ? tip.uuid : null,
    sessionId: typeof tip.sessionId === 'string' ? tip.sessionId : '',
    envelope: picked(tip, ['isSidechain', 'agentId', ...envelopeKeys]),
  }
}

export function picked(record: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (record[key] === undefined ? [] : [[key, record[key]]])))
}

export type LoadOptions = {
  /** Bytes at the end of the file whose entries are kept whole. Default: 64 MB. */
  readonly wholeBytes?: number | undefined
  /** Only what precedes this entry; for a boundary, what its compaction worked on. */
  readonly before?: string | undefined
  /** Called with every entry that is loaded, before any text is shortened. */
  readonly onEntry?: (entry: Entry) => void
  readonly onProgress?: (bytesDone: number, bytesAll: number) => void
}

export type Loaded = {
  readonly path: string
  readonly entries: readonly Entry[]
  /** How many entries from the start have their long texts shortened. */
  readonly shortened: number
  readonly format: Format
  readonly bytes: number
  readonly cutoff: Cutoff
}

export function loadEntries(path: string, options: LoadOptions = {}): Loaded {
  const { wholeBytes = 64 << 20, before, onEntry, ...lines } = options
  const entries: Entry[] = []
  const cutoff = createCutoff(before)
  let shortened = 0
  let held = 0
  const { format, bytes } = forEachEntry(
    path,
    (entry) => {
      if (!cutoff.includes(entry.record)) return
      onEntry?.(entry)
      entries.push(entry)
      for (held += entry.position.length; held > wholeBytes && shortened < entries.length; shortened++) {
        const oldest = entries[shortened] as Entry
        held -= oldest.position.length
        entries[shortened] = withShortTexts(oldest)
      }
    },
    lines,
  )
  return { path, entries, shortened, format, bytes, cutoff }
}

export type Cutoff = {
  readonly before: string | undefined
  /** Call it with every record, in file order. */
  readonly includes: (record: JsonObject) => boolean
  readonly isReached: () => boolean
  /** The summary that follows, if the cutoff is a boundary. */
  readonly summary: () => string | undefined
}

/** Some clients write kept messages again after the summary: the compaction had those too. */
export function createCutoff(before: string | undefined): Cutoff {
  let isReached = false
  let isInCompaction = false
  let kept = new Set<unknown>()
  let summary: string | undefined
  const reach = (record: JsonObject): false => {
    const boundary = readBoundary(record)
    isReached = true
    isInCompaction = boundary !== undefined
    if (boundary?.kept?.type === 'listed') kept = new Set(boundary.kept.uuids)
    return false
  }
  const includes = (record: JsonObject) => {
    if (!isReached) return before === undefined || record.uuid !== before || reach(record)
    if (!isInCompaction) return false
    if (record.isCompactSummary === true) summary ??= textOf(objectAt(record, 'message')?.content)
    isInCompaction = readBoundary(record) === undefined
    return kept.delete(record.uuid)
  }
  return { before, includes, isReached: () => isReached, summary: () => summary }
}

/** The loaded entries with everything whole that the views show: reads the file again if some of it was shortened. */
export function wholeEntries(loaded: Loaded, views: readonly View[]): readonly Entry[] {
  const { path, entries, shortened, cutoff } = loaded
  if (shortened === 0) return entries
  const shown = new Set<unknown>(
    views.flatMap(({ sources, pins }) => [...sources.flatMap(({ uuids }) => uuids), ...pins]),
  )
  if (!entries.slice(0, shortened).some(({ record }) => shown.has(record.uuid))) return entries
  const whole = [...entries]
  const again = createCutoff(cutoff.before)
  let at = 0
  forEachEntry(path, (entry) => {
    if (!again.includes(entry.record)) return
    if (at < shortened && shown.has(entry.record.uuid)) whole[at] = entry
    at++
  })
  return whole
}

/** Undoes half a compaction that a crash left at the end. */
export function withoutTornCompaction(entries: readonly Entry[]): readonly Entry[] {
  const undo = undoOfTorn(entries)
  return undo ? [...entries, undo] : entries
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
