// Opens the view of a transcript on disk: all of its entries and edits, folded, without half a compaction that a kill
// left. It writes nothing, and of a large file it holds the contents of what the view shows, not of the whole history.
import { statSync } from 'node:fs'
import { isObject, type JsonObject } from '../core/message/json.ts'
import { undoOfTorn } from '../core/transcript/compaction-records.ts'
import { type EditPlace, editSubtype, readEdit } from '../core/transcript/edits.ts'
import type { Entry } from '../core/transcript/entry.ts'
import { createFold, foldEntries, type View } from '../core/transcript/fold.ts'
import type { Format } from '../core/transcript/formats/reader.ts'
import { forEachEntry } from './entries.ts'

export type ViewFile = {
  readonly path: string
  readonly format: Format
  readonly bytes: number
  readonly view: View
  /** The view as the newest answer knows it: without the edits that were written since. The very same when there are none. */
  readonly answered: View
  /** By its uuid. Of a large file only what the view was made of is whole; the rest has its long texts cut. */
  readonly entry: (uuid: string) => Entry | undefined
  /** Where the next edit belongs; its id and time are whoever's who writes it. */
  readonly place: Omit<EditPlace, 'uuid' | 'timestamp'>
}

export type ViewFileOptions = {
  /** Bytes from which on a file is read twice, so that it need not be held. 64 MB unless said. */
  readonly largeFrom?: number
  readonly onProgress?: (bytesDone: number, bytesAll: number) => void
}

const large = 64 << 20

export function openView(path: string, { largeFrom = large, ...options }: ViewFileOptions = {}): ViewFile {
  if (statSync(path).size < largeFrom) return folded(path, options, (entry) => entry)
  const { view } = folded(path, {}, shortened)
  const shown = new Set(view.sources.flatMap(({ uuids }) => uuids))
  return folded(path, options, (entry) => (shown.has(String(entry.record.uuid)) ? entry : shortened(entry)))
}

function folded(path: string, options: ViewFileOptions, kept: (entry: Entry) => Entry): ViewFile {
  const fold = createFold()
  const tips: Tips = {}
  const entries: Entry[] = []
  let answer = -1
  const { format, bytes } = forEachEntry(
    path,
    (entry) => {
      const held = kept(entry)
      fold.add(held)
      if (isAnswer(held.record)) answer = entries.length
      entries.push(held)
      notice(tips, held.record)
    },
    options,
  )
  const undo = undoOfTorn(entries)
  if (undo) fold.add(undo)
  const view = fold.view()
  const isSince = (entry: Entry, at: number) => at > answer && readEdit(entry.record) !== undefined
  const known = entries.some(isSince) ? entries.filter((entry, at) => !isSince(entry, at)) : undefined
  const answered = known ? foldEntries(undo ? [...known, undo] : known) : view
  return { path, format, bytes, view, answered, entry: fold.entry, place: placeOf(tips) }
}

function isAnswer({ type, isSidechain, agentId }: JsonObject): boolean {
  // In a file of its own a sub-agent's answers are the conversation's.
  return type === 'assistant' && (isSidechain !== true || typeof agentId === 'string')
}

/** The newest records, of the conversation itself and of one that is a sub-agent's from end to end. */
type Tips = { main?: JsonObject; side?: JsonObject }

function notice(tips: Tips, record: JsonObject): void {
  // Progress hangs beside the conversation, and nothing goes on from it.
  if (typeof record.uuid !== 'string' || record.type === 'progress') return
  const { message: _, attachment: __, toolUseResult: ___, ...rest } = record
  if (record.isSidechain === true) tips.side = rest
  else tips.main = rest
}

/** What a client puts on each of its records. */
const envelopeKeys = ['isSidechain', 'agentId', 'userType', 'entrypoint', 'cwd', 'version', 'gitBranch', 'slug']

function placeOf({ main, side }: Tips): ViewFile['place'] {
  const tip = main ?? side ?? {}
  const envelope = Object.fromEntries(envelopeKeys.flatMap((key) => (key in tip ? [[key, tip[key]]] : [])))
  return {
    parentUuid: typeof tip.uuid === 'string' ? tip.uuid : null,
    sessionId: typeof tip.sessionId === 'string' ? tip.sessionId : '',
    envelope,
  }
}

const longText = 300

/** Everything the tree and the edits are made of, without the texts. */
function shortened(entry: Entry): Entry {
  const { record } = entry
  return record.subtype === editSubtype ? entry : { ...entry, record: shortObject(record) }
}

function shortObject(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, short(item)]))
}

function short(value: unknown): unknown {
  if (typeof value === 'string') return value.length > longText ? copyOf(value.slice(0, longText)) : value
  if (Array.isArray(value)) return value.map(short)
  return isObject(value) ? shortObject(value) : value
}

/** A slice would hold on to the whole text that it was cut from. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}
