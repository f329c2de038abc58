// Opens the view of a transcript on disk: all of its entries and edits, folded, without half a compaction that a kill
// left. It writes nothing, and of a large file it holds the contents of its end and of what the view shows, not of the
// whole history.
import { isObject, type JsonObject } from '../../core/message/json.ts'
import { undoOfTorn } from '../../core/transcript/format/compaction-records.ts'
import { type EditPlace, editSubtype, readEdit } from '../../core/transcript/format/edits.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import type { Format } from '../../core/transcript/format/foreign/reader.ts'
import { createFold, foldEntries, type View } from '../../core/transcript/view/fold.ts'
import { lastAction, type Undoable } from '../../core/transcript/view/last-action.ts'
import { forEachEntry } from './entries.ts'
import type { LineOptions } from './lines.ts'

export type ViewFile = {
  readonly path: string
  readonly format: Format
  readonly bytes: number
  readonly view: View
  /** The view as the newest answer knows it: without the edits that were written since. The very same when there are none. */
  readonly answered: View
  /** By its uuid. Of a large file only what the view was made of is whole; the rest has its long texts cut. */
  readonly entry: (uuid: string) => Entry | undefined
  /** What the newest action in force did to the view, oldest first: what an undo takes back. */
  readonly lastAction: readonly Undoable[]
  /** Where the next edit belongs; its id and time are whoever's who writes it. */
  readonly place: Omit<EditPlace, 'uuid' | 'timestamp'>
}

export type ViewFileOptions = {
  /**
   * So many bytes at the end of the file are held as they are; what comes before has its long texts cut, and the file is
   * read once more if the view shows any of it. 64 MB unless said.
   */
  readonly largeFrom?: number
  readonly onProgress?: (bytesDone: number, bytesAll: number) => void
}

const large = 64 << 20

export function openView(path: string, { largeFrom = large, ...options }: ViewFileOptions = {}): ViewFile {
  const { entries, cut, format, bytes } = readEntries(path, options, largeFrom)
  const first = folded(entries)
  const shown = cut === 0 ? undefined : shownBy(first)
  const isCutShort = shown && entries.slice(0, cut).some((entry) => shown.has(uuidOf(entry)))
  const { view, answered, entry } = isCutShort ? folded(madeWhole(path, { entries, cut, shown })) : first
  return {
    path,
    format,
    bytes,
    view,
    answered,
    entry,
    lastAction: lastAction(mended(entries)),
    place: placeOf(entries),
  }
}

type Reading = {
  readonly entries: readonly Entry[]
  /** How many of them, from the start, have their long texts cut. */
  readonly cut: number
}

/** Cut as it goes along: neither a long file nor its largest part is ever held. */
function readEntries(path: string, options: LineOptions, largeFrom: number) {
  const entries: Entry[] = []
  let cut = 0
  let held = 0
  const { format, bytes } = forEachEntry(
    path,
    (entry) => {
      entries.push(entry)
      for (held += entry.position.length; held > largeFrom && cut < entries.length; cut++) {
        const oldest = entries[cut] as Entry
        held -= oldest.position.length
        entries[cut] = shortened(oldest)
      }
    },
    options,
  )
  return { entries, cut, format, bytes }
}

type Shown = Reading & { readonly shown: ReadonlySet<string> }

/** The whole file is read for it: what a line means may depend on those before it. */
function madeWhole(path: string, { entries, cut, shown }: Shown): readonly Entry[] {
  const whole = [...entries]
  let at = 0
  forEachEntry(path, (entry) => {
    if (at < cut && shown.has(uuidOf(entry))) whole[at] = entry
    at++
  })
  return whole
}

function shownBy({ view, answered }: Pick<ViewFile, 'view' | 'answered'>): ReadonlySet<string> {
  const shown = new Set<string>()
  for (const { sources } of new Set([view, answered])) {
    for (const { uuids } of sources) for (const uuid of uuids) shown.add(uuid)
  }
  return shown
}

const uuidOf = ({ record }: Entry) => String(record.uuid)

/** Without half a compaction that a kill left. */
function mended(entries: readonly Entry[]): readonly Entry[] {
  const undo = undoOfTorn(entries)
  return undo ? [...entries, undo] : entries
}

function folded(entries: readonly Entry[]): Pick<ViewFile, 'view' | 'answered' | 'entry'> {
  const fold = createFold()
  for (const entry of mended(entries)) fold.add(entry)
  const view = fold.view()
  const answer = entries.findLastIndex(({ record }) => isAnswer(record))
  const isSince = (entry: Entry, at: number) => at > answer && readEdit(entry.record) !== undefined
  const known = entries.some(isSince) ? entries.filter((entry, at) => !isSince(entry, at)) : undefined
  const answered = known ? foldEntries(mended(known)) : view
  return { view, answered, entry: fold.entry }
}

function isAnswer({ type, isSidechain, agentId }: JsonObject): boolean {
  // In a file of its own a sub-agent's answers are the conversation's.
  return type === 'assistant' && (isSidechain !== true || typeof agentId === 'string')
}

/** What a client puts on each of its records. */
const envelopeKeys = ['isSidechain', 'agentId', 'userType', 'entrypoint', 'cwd', 'version', 'gitBranch', 'slug']

/** Behind the newest record of the conversation itself, or of one that is a sub-agent's from end to end. */
function placeOf(entries: readonly Entry[]): ViewFile['place'] {
  // Progress hangs beside the conversation, and nothing goes on from it.
  const isTip = ({ record }: Entry) => typeof record.uuid === 'string' && record.type !== 'progress'
  const main = entries.findLast((entry) => isTip(entry) && entry.record.isSidechain !== true)
  const tip = (main ?? entries.findLast(isTip))?.record ?? {}
  const envelope = Object.fromEntries(envelopeKeys.flatMap((key) => (key in tip ? [[key, tip[key]]] : [])))
  return {
    parentUuid: typeof tip.uuid === 'string' ? tip.uuid : null,
    sessionId: typeof tip.sessionId === 'string' ? tip.sessionId : '',
    envelope,
  }
}

const longText = 300

/** Everything the tree and the edits are made of, without the texts; the very same where none is long. */
function shortened(entry: Entry): Entry {
  const { record, position } = entry
  const cut = record.subtype === editSubtype ? record : short(record)
  return cut === record ? entry : { record: cut, position }
}

/** By loops, and copied only where something is cut: this is done for every part of every record of a large file. */
function short<T>(value: T): T
function short(value: unknown): unknown {
  if (typeof value === 'string') return value.length > longText ? copyOf(value.slice(0, longText)) : value
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => short(item))
    return items.every((item, at) => item === value[at]) ? value : items
  }
  return isObject(value) ? shortObject(value) : value
}

function shortObject(value: JsonObject): JsonObject {
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const item = value[key]
    const cut = short(item)
    if (cut === item) continue
    copy ??= { ...value }
    copy[key] = cut
  }
  return copy ?? value
}

/** A slice would hold on to the whole text that it was cut from. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}
