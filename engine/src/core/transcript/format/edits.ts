// Edits: the only ways a view changes. Each is stored as an entry of the transcript, and taken back by another, so
// nothing is ever lost. Here they are read and written; what they do to a view is the fold's business.
import { blocksOf, type Content } from '../../message/block.ts'
import { defined, type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../../message/json.ts'

/** Who asked for it and what it freed, for people, statistics and sizes. No message depends on it. */
export type EditCause = {
  readonly mechanism?: string
  readonly reason?: string
  /** Tokens by the counter of whoever made it: the usage reported before it, less this, is the size behind it. */
  readonly freed?: number
  /** Tokens of the whole context before it: what it leaves is not more. */
  readonly size?: number
}

export type Edit = EditCause &
  (
    | {
        readonly type: 'clear-results'
        readonly toolUseIds: readonly string[]
        /** Entries of attachments that go in the same pass. */
        readonly attachments?: readonly string[]
        /** Leave the id with which the recall tool finds the original. */
        readonly recall?: boolean
        /** Shorten to so many characters instead: head, tail, and a line between them that says what is missing. */
        readonly keep?: number
      }
    | { readonly type: 'clear-inputs'; readonly toolUseIds: readonly string[] }
    /** Images and documents of these entries, also inside results: a word stands in their place. */
    | {
        readonly type: 'clear-media'
        readonly uuids: readonly string[]
        /** So many of the last entry's stay, the newest of them. */
        readonly keep?: number
      }
    /** Of the entries that stand before the edit in the transcript, between these two where they are given. */
    | { readonly type: 'clear-thinking'; readonly after?: string; readonly before?: string }
    /** A snip: the entries from here to there are out of the view; one line says so. */
    | { readonly type: 'drop-range'; readonly from: string; readonly to: string; readonly marker: string }
    /** A collapse: a summary stands in the place of the entries from here to there. */
    | { readonly type: 'replace-range'; readonly from: string; readonly to: string; readonly text: string }
    /** Another agent replaced what the model sees of this entry; null leaves the entry out. */
    | { readonly type: 'replace-content'; readonly uuid: string; readonly content: Content | null }
    /** The server left this out of what the model saw. It changes no message: the history is sent as it is. */
    | {
        readonly type: 'server-cleared'
        readonly toolUses: number
        readonly thinkingTurns: number
        readonly tokens: number
      }
    /** No other edit clears, drops or replaces it. */
    | { readonly type: 'pin'; readonly uuid: string }
    | { readonly type: 'unpin'; readonly uuid: string }
    /** Takes an edit, a rewind, an undo or a compaction (by its boundary) out of the view. */
    | { readonly type: 'undo'; readonly uuid: string }
    /** The view is what it was when this entry was the newest, and goes on from there. */
    | { readonly type: 'rewind'; readonly to: string }
  )

export const editSubtype = 'everlong_edit'

/** The edit that a record stands for; undefined when it is none, or one of a later version that nobody here knows. */
export function readEdit(record: JsonObject): Edit | undefined {
  if (record.type !== 'system') return undefined
  if (record.subtype === 'microcompact_boundary') return readMicrocompact(record)
  return record.subtype === editSubtype ? readKnown(objectAt(objectAt(record, 'everlong'), 'edit') ?? {}) : undefined
}

/** What Claude Code writes when it clears results itself. It can be undone like any other edit. */
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

function readKnown(value: JsonObject): Edit | undefined {
  const type = stringAt(value, 'type') ?? ''
  const edit = Object.hasOwn(readers, type) ? readers[type]?.(value) : undefined
  if (!edit) return undefined
  const [mechanism, reason] = [stringAt(value, 'mechanism'), stringAt(value, 'reason')]
  return { ...edit, ...defined({ mechanism, reason, freed: numberAt(value, 'freed'), size: numberAt(value, 'size') }) }
}

export type EditPlace = {
  readonly uuid: string
  /** The newest entry of the chain, so that readers that do not know edits keep theirs. */
  readonly parentUuid: string | null
  readonly timestamp: string
  readonly sessionId: string
  /** What else the client puts on each record: cwd, version, gitBranch …; in a sub-agent's file, isSidechain. */
  readonly envelope?: JsonObject
  /** The first record of the action that this edit is a part of, where the action wrote several. */
  readonly action?: string | undefined
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
    everlong: { edit, ...(action === undefined ? {} : { action }) },
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

/** What all records of one action have in common: the uuid of its first record. */
export function actionOf(record: JsonObject): string | undefined {
  return stringAt(objectAt(record, 'everlong'), 'action') ?? stringAt(record, 'uuid')
}
