// What a compaction left behind in the transcript: the boundary record, in every spelling that was ever written.
import { type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../../message/json.ts'

/** The messages a compaction kept word for word. They may lie before or after the boundary in the file. */
export type Kept =
  /** Listed one by one. Some may never have been written to disk. */
  | { readonly type: 'listed'; readonly anchor: string; readonly uuids: readonly string[] }
  /** A stretch of the parent chain. */
  | { readonly type: 'segment'; readonly anchor: string; readonly head: string; readonly tail: string }
  /** So many messages right before the boundary. */
  | { readonly type: 'counted'; readonly count: number }

export type Boundary = {
  readonly trigger: string
  readonly preTokens: number | undefined
  readonly postTokens: number | undefined
  readonly durationMs: number | undefined
  readonly kept: Kept | undefined
  /** The last entry before the compaction, as the client believed. It may be missing, elsewhere or below. */
  readonly logicalParent: string | undefined
}

/** The boundary a record stands for, or undefined when it is none. */
export function readBoundary(record: JsonObject): Boundary | undefined {
  if (record.type === 'system' && record.subtype === 'compact_boundary') return readCurrent(record)
  if (record.type === 'compact_system' && record.message === 'conversation_compacted') return readLegacy(record)
  return undefined
}

/** Clients write `compactMetadata.preTokens`, SDK streams `compact_metadata.pre_tokens`. */
function readCurrent(record: JsonObject): Boundary {
  const data = objectAt(record, 'compactMetadata') ?? objectAt(record, 'compact_metadata')
  return {
    trigger: triggerIn(data),
    preTokens: numberAt(data, 'preTokens') ?? numberAt(data, 'pre_tokens'),
    postTokens: numberAt(data, 'postTokens') ?? numberAt(data, 'post_tokens'),
    durationMs: numberAt(data, 'durationMs') ?? numberAt(data, 'duration_ms'),
    kept: readKept(data),
    logicalParent: stringAt(record, 'logicalParentUuid'),
  }
}

/** One name for one thing: some clients write it out. */
function triggerIn(data: JsonObject | undefined): string {
  const trigger = stringAt(data, 'trigger') ?? 'unknown'
  return trigger === 'automatic' ? 'auto' : trigger
}

function readLegacy(record: JsonObject): Boundary {
  const data = objectAt(record, 'metadata') ?? objectAt(record, 'compactMetadata')
  const count = numberAt(data, 'preservedMessages')
  return {
    trigger: triggerIn(data),
    preTokens: numberAt(data, 'tokenCount'),
    postTokens: numberAt(data, 'reducedTokenCount'),
    durationMs: undefined,
    kept: count === undefined || count <= 0 ? undefined : { type: 'counted', count },
    logicalParent: stringAt(record, 'logicalParentUuid'),
  }
}

function readKept(data: JsonObject | undefined): Kept | undefined {
  const messages = objectAt(data, 'preservedMessages') ?? objectAt(data, 'preserved_messages')
  const listedAnchor = stringAt(messages, 'anchorUuid') ?? stringAt(messages, 'anchor_uuid')
  const uuids = stringsAt(messages, 'uuids')
  if (listedAnchor !== undefined && uuids.length > 0) return { type: 'listed', anchor: listedAnchor, uuids }

  const segment = objectAt(data, 'preservedSegment') ?? objectAt(data, 'preserved_segment')
  const anchor = stringAt(segment, 'anchorUuid') ?? stringAt(segment, 'anchor_uuid')
  const head = stringAt(segment, 'headUuid') ?? stringAt(segment, 'head_uuid')
  const tail = stringAt(segment, 'tailUuid') ?? stringAt(segment, 'tail_uuid')
  if (anchor === undefined || head === undefined || tail === undefined) return undefined
  return { type: 'segment', anchor, head, tail }
}
