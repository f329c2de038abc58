// Opens the view of a transcript on disk: all of its entries and edits, folded. It writes nothing.
import type { JsonObject } from '../../core/message/json.ts'
import { type EditPlace, readEdit } from '../../core/transcript/format/edits.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import type { Format } from '../../core/transcript/format/foreign/reader.ts'
import { lastAction, type Undoable } from '../../core/transcript/tree/changes.ts'
import { createFold, foldEntries, type View } from '../../core/transcript/view/fold.ts'
import { type LoadOptions, loadEntries, wholeEntries, withoutTornCompaction } from './load.ts'

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
