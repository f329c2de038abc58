// What a compaction left behind in the transcript: the boundary record, in every spelling that was ever written.
import { type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../../message/json.ts'

/** The messages a compaction kept word for word. They may lie before or after the boundary in the file. */
export type Kept =
  /** Listed one by one. Some may never have been written to disk. */
  | { readonly type: 'listed'; readonly anchor: string; readonly uuids: readonly string[] }
  | { readonly type: 'segment'; readonly anchor: string; readonly head: string; readonly tail: string }
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

export function readBoundary(record: JsonObject): Boundary | undefined {
  if (record.type === 'system' && record.subtype === 'compact_boundary') return readCurrent(record)
  if (record.type === 'compact_system' && record.message === 'conversation_compacted') return readLegacy(record)
  return undefined
}

/** Clients write `compactMetadata.preTokens`, SDK streams `compact_metadata.pre_tokens`. */
function readCurrent(record: JsonObject): Boundary {
  const data = inEither(objectAt, record, 'compactMetadata')
  return {
    trigger: triggerIn(data),
    preTokens: inEither(numberAt, data, 'preTokens'),
    postTokens: inEither(numberAt, data, 'postTokens'),
    durationMs: inEither(numberAt, data, 'durationMs'),
    kept: readKept(data),
    logicalParent: stringAt(record, 'logicalParentUuid'),
  }
}

function inEither<T>(read: (from: unknown, key: string) => T, from: unknown, key: string): T {
  return (
    read(from, key) ??
    read(
      from,
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    )
  )
}

/** One name for one thing: some clients write it out. */
function triggerIn(data: JsonObject | undefined): string {
  const trigger = stringAt(data, 'trigger') ?? 'unknown'
  return trigger === 'automatic' ? 'auto' : trigger
}

function readLegacy(record: JsonObject): Boundary {
  const data = objectAt(record, 'metadata') ?? objectAt(record, 'compactMetadata')
  const count = numberAt(data, 'preservedMessages') ?? 0
  return {
    trigger: triggerIn(data),
    preTokens: numberAt(data, 'tokenCount'),
    postTokens: numberAt(data, 'reducedTokenCount'),
    durationMs: undefined,
    kept: count > 0 ? { type: 'counted', count } : undefined,
    logicalParent: stringAt(record, 'logicalParentUuid'),
  }
}

function readKept(data: JsonObject | undefined): Kept | undefined {
  const messages = inEither(objectAt, data, 'preservedMessages')
  const listedAnchor = inEither(stringAt, messages, 'anchorUuid')
  const uuids = stringsAt(messages, 'uuids')
  if (listedAnchor !== undefined && uuids.length > 0) return { type: 'listed', anchor: listedAnchor, uuids }

  const segment = inEither(objectAt, data, 'preservedSegment')
  const anchor = inEither(stringAt, segment, 'anchorUuid')
  const head = inEither(stringAt, segment, 'headUuid')
  const tail = inEither(stringAt, segment, 'tailUuid')
  if (anchor === undefined || head === undefined || tail === undefined) return undefined
  return { type: 'segment', anchor, head, tail }
}
