// What a compaction leaves in the transcript, as records in the Claude Code format: boundary, summary, restored context,
// what hooks said. They are to be appended in this order, all of them in one write. Ids and times are handed in.
import { type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../../message/json.ts'
import { readBoundary } from './boundary.ts'
import { type Edit, type EditPlace, editRecord, readEdit } from './edits.ts'
import type { Entry } from './entry.ts'

export type CompactionFacts = {
  readonly trigger: 'manual' | 'auto'
  readonly preTokens: number
  readonly postTokens: number
  readonly durationMs: number
  readonly messagesSummarized: number
  readonly cumulativeDroppedTokens: number
  /** Names of deferred tools that had been discovered. */
  readonly discoveredTools: readonly string[]
  /** The instructions given. */
  readonly userContext: string
  /** What only we read: mechanism, model, usage, cost, fidelity, chain, ledger, reason. */
  readonly everlong: JsonObject
}

export type KeptEntries = {
  readonly uuids: readonly string[]
  /** after: they come behind the summary. before: the summary comes behind them. */
  readonly place: 'after' | 'before'
}

export type AttachmentFacts = { readonly type: string; readonly content: string; readonly [key: string]: unknown }

export type CompactionPlace = {
  readonly newId: () => string
  /** ISO time. */
  readonly timestamp: string
  readonly sessionId: string
  /** The newest entry of the chain. */
  readonly logicalParent: string | undefined
  /** What else the client puts on each record: cwd, version, gitBranch …; in a sub-agent's file, isSidechain. */
  readonly envelope?: JsonObject | undefined
}

export type CompactionParts = {
  readonly facts: CompactionFacts
  readonly summary: string
  /** What only we read of the summary: how its provider wrote it. */
  readonly served?: JsonObject
  readonly kept?: KeptEntries | undefined
  readonly attachments: readonly AttachmentFacts[]
  /** The last word of the new context, where something stands behind the summary. */
  readonly closing?: string | undefined
  readonly edits?: readonly Edit[]
}

export type CompactionRecords = {
  readonly records: readonly JsonObject[]
  readonly boundary: string
  readonly summary: string
}

export function compactionRecords(parts: CompactionParts, place: CompactionPlace): CompactionRecords {
  const { facts, kept, attachments, closing, edits = [] } = parts
  const boundary = place.newId()
  const summary = place.newId()
  const own = summaryRecord(parts.summary, { uuid: summary, parent: boundary }, place)
  const records: JsonObject[] = [parts.served ? { ...own, everlong: { served: parts.served } } : own]
  let parent = summary
  const add = (make: (uuid: string, parent: string) => JsonObject): void => {
    const uuid = place.newId()
    records.push(make(uuid, parent))
    parent = uuid
  }
  for (const attachment of attachments) {
    add((uuid, above) => ({ ...frame(above, place), type: 'attachment', attachment, uuid, timestamp: place.timestamp }))
  }
  if (closing !== undefined) add((uuid, above) => summaryRecord(closing, { uuid, parent: above }, place))
  const { timestamp, sessionId, envelope } = place
  for (const edit of edits) {
    add((uuid, above) =>
      editRecord(edit, {
        uuid,
        parentUuid: above,
        timestamp,
        sessionId,
        ...(envelope ? { envelope } : {}),
        action: boundary,
      }),
    )
  }
  const ids = { uuid: boundary, anchor: kept?.place === 'before' ? boundary : summary, last: parent }
  return { records: [boundaryRecord(ids, { facts, kept }, place), ...records], boundary, summary }
}

function frame(parentUuid: string | null, { envelope, sessionId }: CompactionPlace): JsonObject {
  return { parentUuid, isSidechain: false, ...envelope, sessionId }
}

function boundaryRecord(
  ids: { readonly uuid: string; readonly anchor: string; readonly last: string },
  { facts, kept }: { readonly facts: CompactionFacts; readonly kept: KeptEntries | undefined },
  place: CompactionPlace,
): JsonObject {
  return {
    ...frame(null, place),
    ...(place.logicalParent === undefined ? {} : { logicalParentUuid: place.logicalParent }),
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    isMeta: false,
    level: 'info',
    compactMetadata: metadataOf(facts, kept, ids.anchor),
    everlong: { compaction: { ...facts.everlong, last: ids.last } },
    timestamp: place.timestamp,
    uuid: ids.uuid,
  }
}

function metadataOf(facts: CompactionFacts, kept: KeptEntries | undefined, anchorUuid: string): JsonObject {
  const uuids = kept?.uuids ?? []
  const preserved =
    uuids.length === 0
      ? {}
      : {
          preservedSegment: { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) },
          // One by one as well: results of parallel calls, and what an earlier compaction kept, are on no one chain.
          preservedMessages: { anchorUuid, uuids, allUuids: uuids },
        }
  return {
    trigger: facts.trigger,
    preTokens: facts.preTokens,
    postTokens: facts.postTokens,
    durationMs: facts.durationMs,
    messagesSummarized: facts.messagesSummarized,
    cumulativeDroppedTokens: facts.cumulativeDroppedTokens,
    ...(facts.discoveredTools.length === 0 ? {} : { preCompactDiscoveredTools: facts.discoveredTools }),
    ...preserved,
    ...(facts.userContext === '' ? {} : { userContext: facts.userContext }),
  }
}

function summaryRecord(
  text: string,
  ids: { readonly uuid: string; readonly parent: string },
  place: CompactionPlace,
): JsonObject {
  return {
    ...frame(ids.parent, place),
    type: 'user',
    message: { role: 'user', content: text },
    isVisibleInTranscriptOnly: true,
    isCompactSummary: true,
    uuid: ids.uuid,
    timestamp: place.timestamp,
  }
}

/**
 * The boundary of a compaction whose write was cut short: it names the last of its records, and that one is not there. A
 * kill in the middle can leave this, and half of a compaction is worse than none. Undefined when the newest compaction is
 * whole, was taken out, or is somebody else's.
 */
export function tornCompaction(entries: readonly Entry[]): JsonObject | undefined {
  const boundary = entries.findLast(({ record }) => readBoundary(record) !== undefined)?.record
  const { last } = readCompaction(boundary)
  if (boundary === undefined || last === undefined) return undefined
  const isSettled = ({ record }: Entry) => {
    const edit = readEdit(record)
    return record.uuid === last || (edit?.type === 'undo' && edit.uuid === boundary.uuid)
  }
  return entries.findLast(isSettled) === undefined ? boundary : undefined
}

/**
 * What takes a torn compaction out of the view: whoever goes on from there writes it, whoever only looks folds it behind
 * the rest. Undefined where nothing is torn.
 */
export function undoOfTorn(
  entries: readonly Entry[],
  place: Partial<Pick<EditPlace, 'uuid' | 'timestamp'>> = {},
): Entry | undefined {
  const boundary = tornCompaction(entries)
  const tip = entries.findLast(({ record }) => typeof record.uuid === 'string')
  if (boundary === undefined || tip === undefined) return undefined
  const { isSidechain, userType, cwd, version, gitBranch, agentId } = boundary
  const edit: Edit = { type: 'undo', uuid: String(boundary.uuid), mechanism: 'open', reason: 'its write was cut short' }
  const record = editRecord(edit, {
    uuid: `undo-of-${boundary.uuid}`,
    timestamp: stringAt(boundary, 'timestamp') ?? '',
    ...place,
    parentUuid: String(tip.record.uuid),
    sessionId: stringAt(boundary, 'sessionId') ?? '',
    envelope: { isSidechain, userType, cwd, version, gitBranch, agentId },
  })
  return { record, position: tip.position }
}

function compactionIn(boundary: JsonObject | undefined): JsonObject | undefined {
  return objectAt(objectAt(boundary, 'everlong'), 'compaction')
}

/** What an earlier boundary of ours says, as far as the next compaction goes on from it. */
export type EarlierCompaction = {
  readonly ledger: unknown
  readonly cumulativeDroppedTokens: number
  readonly discoveredTools: readonly string[]
  readonly turnId: string | undefined
  /** Tokens by its own counter. */
  readonly freed: number | undefined
  /** The last of its records. */
  readonly last: string | undefined
}

export function readCompaction(record: JsonObject | undefined): EarlierCompaction {
  const metadata = objectAt(record, 'compactMetadata')
  const own = compactionIn(record)
  const chain = objectAt(own, 'chain')
  return {
    ledger: own?.ledger,
    cumulativeDroppedTokens: numberAt(metadata, 'cumulativeDroppedTokens') ?? 0,
    discoveredTools: stringsAt(metadata, 'preCompactDiscoveredTools'),
    turnId: typeof chain?.turnId === 'string' ? chain.turnId : undefined,
    freed: numberAt(own, 'freed') ?? freedIn(objectAt(own, 'tokens')),
    last: stringAt(own, 'last'),
  }
}

function freedIn(tokens: JsonObject | undefined): number | undefined {
  const before = numberAt(tokens, 'before')
  const after = numberAt(tokens, 'after')
  return before === undefined || after === undefined ? undefined : before - after
}
