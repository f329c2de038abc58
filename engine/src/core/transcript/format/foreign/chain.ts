// Links converted records: each gets a position, an id, and the record before it as its parent. Also writes the records that
// several agents need, in the Claude Code format.
import { defined, type JsonObject } from '../../../message/json.ts'
import { editSubtype } from '../edits.ts'
import type { Entry, Position } from '../entry.ts'

export type ChainPlace = { readonly uuid: string; readonly timestamp?: unknown; readonly position: Position }

export type Chain = ReturnType<typeof createChain>

export type ChainCompaction = {
  readonly summary: string | undefined
  /** The first entry that was kept verbatim, with all that follow it. Default: none was kept. */
  readonly keptFrom?: string | undefined
  readonly boundaryUuid?: string
  /** Further fields of the boundary: trigger, preTokens, postTokens. */
  readonly metadata: JsonObject
  readonly everlong?: JsonObject | undefined
}

export function createChain() {
  let previous: string | null = null
  let envelope: JsonObject = {}
  const parents = new Map<string, string | null>()
  const add = (record: JsonObject, { uuid, timestamp, position }: ChainPlace): Entry => {
    const link = { ...envelope, uuid, parentUuid: previous, timestamp, isSidechain: false }
    if (!parents.has(uuid)) parents.set(uuid, previous)
    previous = uuid
    return { record: { ...link, ...record }, position }
  }
  return {
    add,
    /** Fields of every record from now on: cwd, sessionId. */
    know: (more: JsonObject): void => {
      envelope = { ...envelope, ...more }
    },
    last: () => previous,
    /** Makes this entry the parent of the next record; without one, a new conversation begins. */
    goTo: (uuid: string | null): void => {
      previous = uuid
    },
    /** Writes the boundary and the summary of a compaction. The summary becomes the parent of the next record. */
    compact: (compaction: ChainCompaction, place: ChainPlace): readonly Entry[] => {
      const { summary, keptFrom, boundaryUuid, metadata, everlong } = compaction
      const [logicalParentUuid, { uuid }] = [previous, place]
      const isKept = keptFrom !== undefined && previous !== null
      const preservedSegment = isKept ? { headUuid: keptFrom, anchorUuid: uuid, tailUuid: previous } : undefined
      const boundary = {
        ...{ type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', logicalParentUuid },
        compactMetadata: defined({ ...metadata, preservedSegment }),
        ...defined({ everlong }),
      }
      previous = null
      return [
        add(boundary, { ...place, uuid: boundaryUuid ?? `${uuid}-boundary` }),
        ...(summary === undefined ? [] : [add({ ...userRecord(summary), isCompactSummary: true }, place)]),
      ]
    },
    /** The conversation continues from the entry before this one, or from its start if there is none. */
    rewindBefore: (target: string, place: ChainPlace): readonly Entry[] => {
      const to = parents.get(target)
      if (to === undefined) return []
      previous = to
      return to === null ? [] : [add(editFields({ type: 'rewind', to }), place)]
    },
  }
}

export function editFields(edit: JsonObject): JsonObject {
  return { type: 'system', subtype: editSubtype, content: `Context edited: ${String(edit.type)}`, everlong: { edit } }
}

export function userRecord(content: unknown, isMeta?: boolean): JsonObject {
  return { type: 'user', ...defined({ isMeta }), message: { role: 'user', content } }
}

export function assistantRecord(message: JsonObject): JsonObject {
  return { type: 'assistant', message: { role: 'assistant', ...message } }
}

export function resultRecord(results: readonly JsonObject[]): JsonObject {
  return userRecord(results.map((result) => ({ type: 'tool_result', ...result })))
}
