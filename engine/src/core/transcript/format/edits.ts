// Edits are the only way to change a view. Each is an entry of the transcript, and another entry undoes it, so nothing is
// lost. This file reads and writes edits; the fold applies them to a view.

import { defined, type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../../message/json.ts'
import { blocksOf, type Content } from '../../message/message.ts'

/** Who asked for the edit and how much it freed, for display, statistics and sizes. It changes no message. */
export type EditCause = {
  readonly mechanism?: string
  readonly reason?: string
  /** Tokens freed, as counted by the client that wrote the edit. Size after the edit = reported usage − this. */
  readonly freed?: number
  /** Tokens of the whole context before the edit, an upper limit for the size after it. */
  readonly size?: number
}

export type Edit = EditCause &
  (
    | {
        readonly type: 'clear-results'
        readonly toolUseIds: readonly string[]
        /** One line per id that describes the result; empty for none. */
        readonly stubs?: readonly string[]
        /** Attachment entries that are cleared together with the results. */
        readonly attachments?: readonly string[]
        /** Keeps the id with which the recall tool finds the original. */
        readonly recall?: boolean
        /** Shortens to this many characters instead: the start, the end, and a line between them about the missing part. */
        readonly keep?: number
      }
    | { readonly type: 'clear-inputs'; readonly toolUseIds: readonly string[] }
    /** Replaces images and documents in these entries, also inside results, with a word. */
    | {
        readonly type: 'clear-media'
        readonly uuids: readonly string[]
        /** How many of the last entry's images and documents stay, the newest ones. */
        readonly keep?: number
      }
    /** Applies to entries before the edit in the transcript, between these two if given. */
    | { readonly type: 'clear-thinking'; readonly after?: string; readonly before?: string }
    /** A snip: one line replaces the entries in this range. */
    | { readonly type: 'drop-range'; readonly from: string; readonly to: string; readonly marker: string }
    /** A summary replaces the entries in this range. */
    | { readonly type: 'replace-range'; readonly from: string; readonly to: string; readonly text: string }
    /** Another agent replaced the content of this entry; null removes it. */
    | { readonly type: 'replace-content'; readonly uuid: string; readonly content: Content | null }
    /** The server hid this from the model. It changes no message: the history is sent unchanged. */
    | {
        readonly type: 'server-cleared'
        readonly toolUses: number
        readonly thinkingTurns: number
        readonly tokens: number
      }
    /** Protects an entry from being cleared, dropped or replaced. */
    | { readonly type: 'pin'; readonly uuid: string }
    | { readonly type: 'unpin'; readonly uuid: string }
    /** Undoes an edit, a rewind, an undo, or a compaction (by its boundary). */
    | { readonly type: 'undo'; readonly uuid: string }
    /** Returns to the view in which this entry was the newest, and continues from there. */
    | { readonly type: 'rewind'; readonly to: string }
  )

export const editSubtype = 'everlong_edit'

/** The edit in a record; undefined if it has none, or one of a later version that this one does not know. */
export function readEdit(record: JsonObject): Edit | undefined {
  if (record.type !== 'system') return undefined
  if (record.subtype === 'microcompact_boundary') return readMicrocompact(record)
  return record.subtype === editSubtype ? readKnown(objectAt(objectAt(record, 'everlong'), 'edit') ?? {}) : undefined
}

/** Claude Code writes this when it clears results itself. It can be undone like any other edit. */
function readMicrocompact(record: JsonObject): Edit {
  const data = objectAt(record, 'microcompactMetadata')
  const attachments = stringsAt(data, 'clearedAttachmentUUIDs')
  return {
    type: 'clear-results',
    toolUseIds: stringsAt(data, 'compactedToolIds'),
    ...(attachments.length > 0 ? { attachments } : {}),
    mechanism: 'microcompact_boundary',
  }
}

const readers: Readonly<Record<string, (edit: JsonObject) => Edit | undefined>> = {
  'clear-results': (edit) => ({
    type: 'clear-results',
    toolUseIds: stringsAt(edit, 'toolUseIds'),
    ...stubsIn(edit),
    ...(Array.isArray(edit.attachments) ? { attachments: stringsAt(edit, 'attachments') } : {}),
    ...(edit.recall === true ? { recall: true } : {}),
    ...(Number.isSafeInteger(edit.keep) && Number(edit.keep) > 0 ? { keep: Number(edit.keep) } : {}),
  }),
  'clear-inputs': (edit) => ({ type: 'clear-inputs', toolUseIds: stringsAt(edit, 'toolUseIds') }),
  'clear-media': (edit) => ({
    type: 'clear-media',
    uuids: stringsAt(edit, 'uuids'),
    ...defined({ keep: numberAt(edit, 'keep') }),
  }),
  'clear-thinking': (edit) => ({
    type: 'clear-thinking',
    ...defined({ after: stringAt(edit, 'after'), before: stringAt(edit, 'before') }),
  }),
  'drop-range': ({ from, to, marker }) =>
    typeof from === 'string' && typeof to === 'string'
      ? { type: 'drop-range', from, to, marker: typeof marker === 'string' ? marker : '' }
      : undefined,
  'replace-range': ({ from, to, text }) =>
    typeof from === 'string' && typeof to === 'string' && typeof text === 'string'
      ? { type: 'replace-range', from, to, text }
      : undefined,
  'replace-content': ({ uuid, content }) =>
    typeof uuid === 'string' && (content === null || typeof content === 'string' || Array.isArray(content))
      ? { type: 'replace-content', uuid, content: Array.isArray(content) ? blocksOf(content) : content }
      : undefined,
  'server-cleared': (edit) => ({
    type: 'server-cleared',
    toolUses: numberAt(edit, 'toolUses') ?? 0,
    thinkingTurns: numberAt(edit, 'thinkingTurns') ?? 0,
    tokens: numberAt(edit, 'tokens') ?? 0,
  }),
  pin: ({ uuid }) => (typeof uuid === 'string' ? { type: 'pin', uuid } : undefined),
  unpin: ({ uuid }) => (typeof uuid === 'string' ? { type: 'unpin', uuid } : undefined),
  undo: ({ uuid }) => (typeof uuid === 'string' ? { type: 'undo', uuid } : undefined),
  rewind: ({ to }) => (typeof to === 'string' ? { type: 'rewind', to } : undefined),
}

/** One for each id, or none: a stub must not describe another result. */
function stubsIn(edit: JsonObject): { readonly stubs?: readonly string[] } {
  const stubs = stringsAt(edit, 'stubs')
  return stubs.length > 0 && stubs.length === stringsAt(edit, 'toolUseIds').length ? { stubs } : {}
}

function readKnown(value: JsonObject): Edit | undefined {
  const type = stringAt(value, 'type') ?? ''
  const edit = Object.hasOwn(readers, type) ? readers[type]?.(value) : undefined
  if (!edit) return undefined
  const [mechanism, reason] = [stringAt(value, 'mechanism'), stringAt(value, 'reason')]
  return { ...edit, ...defined({ mechanism, reason, freed: numberAt(value, 'freed'), size: numberAt(value, 'size') }) }
}

export type EditPlace = {
  readonly uuid: string
  /** The newest entry of the chain, so that readers that do not know edits still follow the chain. */
  readonly parentUuid: string | null
  readonly timestamp: string
  readonly sessionId: string
  /** Further fields of each record: cwd, version, gitBranch …; in a sub-agent's file, isSidechain. */
  readonly envelope?: JsonObject
  /** The first record of the action that this edit belongs to, if the action wrote several. */
  readonly action?: string | undefined
} & UndoOptions

export type UndoOptions = {
  /** False if `undo()` must not undo it, because the host keeps the history itself and the session only follows. Default: true. */
  readonly canUndo?: boolean | undefined
}

export function editRecord(edit: Edit, place: EditPlace): JsonObject {
  const { uuid, parentUuid, timestamp, sessionId, envelope, action } = place
  return {
    parentUuid,
    isSidechain: false,
    ...envelope,
    sessionId,
    type: 'system',
    subtype: editSubtype,
    content: `Context edited: ${edit.type}`,
    level: 'info',
    isMeta: false,
    everlong: { edit, ...defined({ action }), ...undoFields(place) },
    timestamp,
    uuid,
  }
}

export function editRecords(
  edits: readonly Edit[],
  { uuids, parentUuid, ...place }: Omit<EditPlace, 'uuid' | 'action'> & { readonly uuids: readonly string[] },
): readonly JsonObject[] {
  const action = edits.length > 1 ? uuids[0] : undefined
  return edits.map((edit, at) =>
    editRecord(edit, { ...place, uuid: uuids[at] ?? '', parentUuid: uuids[at - 1] ?? parentUuid, action }),
  )
}

/** The fields about undo in `everlong` of a record that changes the view. */
export function undoFields({ canUndo }: UndoOptions): UndoOptions {
  return canUndo === false ? { canUndo } : {}
}

/** Whether `undo()` may take back the change in this record. */
export function isUndoable(record: JsonObject): boolean {
  return objectAt(record, 'everlong')?.canUndo !== false
}

/** The uuid of the first record of an action, which all its records share. */
export function actionOf(record: JsonObject): string | undefined {
  return stringAt(objectAt(record, 'everlong'), 'action') ?? stringAt(record, 'uuid')
}
