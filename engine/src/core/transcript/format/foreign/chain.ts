// Hangs converted records one behind the other, for agents whose sessions are lists: each record gets its place and its id.
import { defined, type JsonObject } from '../../../message/json.ts'
import { editSubtype } from '../edits.ts'
import type { Entry, Position } from '../entry.ts'

export type ChainPlace = { readonly uuid: string; readonly timestamp?: unknown; readonly position: Position }

export type Chain = {
  /** What is on every record from now on: cwd, sessionId. */
  readonly know: (envelope: JsonObject) => void
  readonly add: (record: JsonObject, place: ChainPlace) => Entry
  /** The boundary and the summary of a compaction: what follows hangs on the summary. */
  readonly compact: (compaction: ChainCompaction, place: ChainPlace) => readonly Entry[]
  /** What follows is a conversation of its own. */
  readonly restart: () => void
  /** The conversation goes on from before this entry, or from its start where nothing is before it. */
  readonly rewindBefore: (uuid: string, place: ChainPlace) => readonly Entry[]
}

export type ChainCompaction = {
  readonly trigger: string
  readonly summary: string
  readonly preTokens?: number | undefined
  readonly postTokens?: number | undefined
  /** The first entry that was kept word for word: it and all that follow it. Left out: none was. */
  readonly keptFrom?: string | undefined
}

export function createChain(): Chain {
  let previous: string | null = null
  let envelope: JsonObject = {}
  const parents = new Map<string, string | null>()
  const add: Chain['add'] = (record, { uuid, timestamp, position }) => {
    const link = { ...envelope, uuid, parentUuid: previous, timestamp, isSidechain: false }
    if (!parents.has(uuid)) parents.set(uuid, previous)
    previous = uuid
    return { record: { ...link, ...record }, position }
  }
  return {
    know: (more) => {
      envelope = { ...envelope, ...more }
    },
    add,
    compact: ({ summary, keptFrom, ...facts }, { uuid, ...place }) => {
      const logicalParentUuid = previous
      const preservedSegment =
        keptFrom === undefined || previous === null
          ? undefined
          : { headUuid: keptFrom, anchorUuid: uuid, tailUuid: previous }
      previous = null
      const boundary = {
        ...{ type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', logicalParentUuid },
        compactMetadata: defined({ ...facts, preservedSegment }),
      }
      const said = { type: 'user', isCompactSummary: true, message: { role: 'user', content: summary } }
      return [
        add(boundary, { ...place, uuid: `${uuid}-boundary` }),
        ...(summary === '' ? [] : [add(said, { ...place, uuid })]),
      ]
    },
    restart: () => {
      previous = null
    },
    rewindBefore: (target, place) => {
      const to = parents.get(target)
      if (to === undefined) return []
      if (to === null) {
        previous = null
        return []
      }
      previous = to
      const edit = { type: 'rewind', to }
      return [
        add({ type: 'system', subtype: editSubtype, content: 'Context edited: rewind', everlong: { edit } }, place),
      ]
    },
  }
}

export function assistantRecord(message: JsonObject): JsonObject {
  return { type: 'assistant', message: { role: 'assistant', ...message } }
}

export function resultRecord(results: readonly JsonObject[]): JsonObject {
  return {
    type: 'user',
    message: { role: 'user', content: results.map((result) => ({ type: 'tool_result', ...result })) },
  }
}
