// The boundary record that a compaction writes, in every spelling that clients have used.
import { isObject, type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../../message/json.ts'

/** The messages that a compaction kept verbatim. In the file they may come before or after the boundary. */
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
  /** Old clients: messages before the compaction, and the share of them that was kept. */
  readonly totalMessages?: number
  readonly compressionRatio?: number
}

export function readBoundary(record: JsonObject): Boundary | undefined {
  if (record.type === 'system' && record.subtype === 'compact_boundary') return readCurrent(record)
  if (record.type === 'compact_system' && record.message === 'conversation_compacted') return readLegacy(record)
  return undefined
}

function readCurrent(record: JsonObject): Boundary {
  const data = inCamelCase(record.compactMetadata ?? record.compact_metadata)
  return {
    trigger: triggerIn(data),
    preTokens: numberAt(data, 'preTokens'),
    postTokens: numberAt(data, 'postTokens'),
    durationMs: numberAt(data, 'durationMs'),
    kept: readKept(data),
    ...ratioIn(data),
  }
}

/** Clients write `compactMetadata.preTokens`, SDK streams `compact_metadata.pre_tokens`. */
function inCamelCase(value: unknown): JsonObject {
  const camel = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [camel(key), item])) : {}
}

/** Some clients write the full word. */
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
    ...ratioIn(data),
  }
}

function ratioIn(data: JsonObject | undefined): Pick<Boundary, 'totalMessages' | 'compressionRatio'> {
  const [totalMessages, compressionRatio] = [numberAt(data, 'totalMessages'), numberAt(data, 'compressionRatio')]
  return {
    ...(totalMessages === undefined ? {} : { totalMessages }),
    ...(compressionRatio === undefined ? {} : { compressionRatio }),
  }
}

function readKept(data: JsonObject): Kept | undefined {
  const messages = inCamelCase(data.preservedMessages)
  const listedAnchor = stringAt(messages, 'anchorUuid')
  const uuids = stringsAt(messages, 'uuids')
  if (listedAnchor !== undefined && uuids.length > 0) return { type: 'listed', anchor: listedAnchor, uuids }

  const { anchorUuid: anchor, headUuid: head, tailUuid: tail } = inCamelCase(data.preservedSegment)
  if (typeof anchor !== 'string' || typeof head !== 'string' || typeof tail !== 'string') return undefined
  return { type: 'segment', anchor, head, tail }
}
