// The records of a compaction, in the Claude Code format: boundary, summary, restored context, output of hooks. The caller
// appends them in this order in one write, and passes in ids and times. Boundaries are read in every spelling that clients use.
import { defined, isObject, type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'
import { type Edit, editRecord } from './edits.ts'

export type CompactionFacts = {
  readonly trigger: 'manual' | 'auto'
  readonly preTokens: number
  readonly postTokens: number
  readonly durationMs: number
  readonly messagesSummarized: number
  readonly cumulativeDroppedTokens: number
  readonly discoveredTools: readonly string[]
  readonly userContext: string
  /** Fields that only Everlong reads: mechanism, model, usage, cost, fidelity, chain, ledger, reason. */
  readonly everlong: JsonObject
}

export type AttachmentFacts = { readonly type: string; readonly content: string; readonly [key: string]: unknown }

export type CompactionPlace = {
  readonly newId: () => string
  readonly timestamp: string
  readonly sessionId: string
  /** The newest entry of the chain. */
  readonly logicalParent: string | undefined
  /** Further fields of each record: cwd, version, gitBranch …; in a sub-agent's file, isSidechain. */
  readonly envelope?: JsonObject | undefined
}

export type CompactionParts = {
  readonly facts: CompactionFacts
  readonly summary: string
  /** Only Everlong reads this: the summary in its provider's own form. */
  readonly served?: JsonObject
  /** `after`: they follow the summary. `before`: the summary follows them. */
  readonly kept?: { readonly uuids: readonly string[]; readonly place: 'after' | 'before' } | undefined
  readonly attachments: readonly AttachmentFacts[]
  /** The text that ends the new context, if anything follows the summary. */
  readonly closing?: string | undefined
  readonly edits?: readonly Edit[]
}

export type CompactionRecords = ReturnType<typeof compactionRecords>

export function compactionRecords(parts: CompactionParts, place: CompactionPlace) {
  const { facts, kept, served } = parts
  const { newId, timestamp, sessionId, envelope } = place
  const [boundary, summary] = [newId(), newId()]
  const frame = (parentUuid: string | null) => ({ parentUuid, isSidechain: false, ...envelope, sessionId })
  const said = (content: string, uuid: string, parent: string): JsonObject => ({
    ...frame(parent),
    type: 'user',
    message: { role: 'user', content },
    isVisibleInTranscriptOnly: true,
    isCompactSummary: true,
    uuid,
    timestamp,
  })
  const records: JsonObject[] = [
    { ...said(parts.summary, summary, boundary), ...(served ? { everlong: { served } } : {}) },
  ]
  let last = summary
  const add = (make: (uuid: string, parent: string) => JsonObject): void => {
    const uuid = newId()
    records.push(make(uuid, last))
    last = uuid
  }
  for (const attachment of parts.attachments) {
    add((uuid, parent) => ({ ...frame(parent), type: 'attachment', attachment, uuid, timestamp }))
  }
  const { closing } = parts
  if (closing !== undefined) add((uuid, parent) => said(closing, uuid, parent))
  for (const edit of parts.edits ?? []) {
    const own = { timestamp, sessionId, action: boundary, ...(envelope ? { envelope } : {}) }
    add((uuid, parentUuid) => editRecord(edit, { ...own, uuid, parentUuid }))
  }
  const first: JsonObject = {
    ...frame(null),
    ...(place.logicalParent === undefined ? {} : { logicalParentUuid: place.logicalParent }),
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    isMeta: false,
    level: 'info',
    compactMetadata: metadataOf(facts, kept?.uuids ?? [], kept?.place === 'before' ? boundary : summary),
    everlong: { compaction: { ...facts.everlong, last } },
    timestamp,
    uuid: boundary,
  }
  return { records: [first, ...records], boundary, summary }
}

function metadataOf(facts: CompactionFacts, uuids: readonly string[], anchorUuid: string): JsonObject {
  const { everlong: _, discoveredTools, userContext, ...counts } = facts
  const preserved = {
    preservedSegment: { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) },
    // Listed one by one too, because results of parallel calls and messages kept by an earlier compaction are not on one chain.
    preservedMessages: { anchorUuid, uuids, allUuids: uuids },
  }
  return {
    ...counts,
    ...(discoveredTools.length === 0 ? {} : { preCompactDiscoveredTools: discoveredTools }),
    ...(uuids.length === 0 ? {} : preserved),
    ...(userContext === '' ? {} : { userContext }),
  }
}

/** The records of a compaction, with the size of the new context in tokens of this model. */
export function withSizeAfter(
  records: readonly JsonObject[],
  size: { readonly after: number; readonly model: string },
): readonly JsonObject[] {
  const last = records.findLast(({ uuid }) => typeof uuid === 'string')?.uuid
  return records.map((record) => {
    const metadata = objectAt(record, 'compactMetadata')
    if (record.subtype !== 'compact_boundary' || !metadata) return record
    const everlong = objectAt(record, 'everlong')
    const [before = 0, told = 0] = [numberAt(metadata, 'preTokens'), numberAt(metadata, 'postTokens')]
    const dropped = numberAt(metadata, 'cumulativeDroppedTokens')
    const gone = (after: number) => Math.max(0, before - after)
    const cumulativeDroppedTokens = dropped === undefined ? undefined : dropped - gone(told) + gone(size.after)
    return {
      ...record,
      compactMetadata: { ...metadata, postTokens: size.after, ...defined({ cumulativeDroppedTokens }) },
      everlong: { ...everlong, compaction: { last, ...objectAt(everlong, 'compaction'), size } },
    }
  })
}

/** The parent of a summary is its boundary. The closing text comes after the restored context, so the walk may be long. */
export function boundaryBefore(
  summary: Pick<ViewMessage, 'uuid'> | undefined,
  recordOf: ((uuid: string) => JsonObject | undefined) | undefined,
): JsonObject | undefined {
  let uuid = summary?.uuid
  for (let steps = 0; uuid !== undefined && recordOf && steps < 200; steps++) {
    const record = recordOf(uuid)
    if (record?.subtype === 'compact_boundary') return record
    uuid = stringAt(record, 'parentUuid')
  }
  return undefined
}

/** The fields of an earlier boundary of ours that the next compaction continues from. */
export function readCompaction(record: JsonObject | undefined) {
  const metadata = objectAt(record, 'compactMetadata')
  const own = objectAt(objectAt(record, 'everlong'), 'compaction')
  const tokens = objectAt(own, 'tokens')
  const size = objectAt(own, 'size')
  const [before, after] = [numberAt(tokens, 'before'), numberAt(tokens, 'after')]
  return {
    ledger: own?.ledger,
    /** The ledger includes the kept messages, which come before the summary. */
    ledgerHasKept: own?.ledgerHasKept === true,
    cumulativeDroppedTokens: numberAt(metadata, 'cumulativeDroppedTokens') ?? 0,
    discoveredTools: stringsAt(metadata, 'preCompactDiscoveredTools'),
    turnId: stringAt(objectAt(own, 'chain'), 'turnId'),
    freed: numberAt(own, 'freed') ?? (before === undefined || after === undefined ? undefined : before - after),
    /** The last record of the compaction. */
    last: stringAt(own, 'last'),
    /** The sizes at the end of the turns before it, if it remembers them. */
    turns: Array.isArray(own?.turns) ? own.turns.flatMap(turnIn) : undefined,
    kept: stringsAt(objectAt(metadata, 'preservedMessages'), 'uuids'),
    /** Size of the new context, in tokens of this model. */
    size: defined({ after: numberAt(size, 'after'), model: stringAt(size, 'model') }),
  }
}

function turnIn(value: unknown): readonly { readonly tokens: number; readonly time?: number }[] {
  const [tokens, time] = [numberAt(value, 'tokens'), numberAt(value, 'time')]
  return tokens === undefined ? [] : [{ tokens, ...defined({ time }) }]
}

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

const clientOpening = /^This session is being continued/
/** The text that Codex puts before a summary. */
const codexIntroduction = /^Another language model started to solve this problem[^\n]*\n/
const summaryHeading = /^Summary:[ \t]*$/m
const firstSection = /^[ \t]*(?:#+[ \t]*|\*\*)?1\.[ \t]/m
const clientClosing =
  /\n(?:If you need specific details from before compaction|Please continue the conversation|Continue the conversation from where)/

/** The model's text in a recorded summary, without its scratchpad and the client's opening and closing text. */
export function recordedProse(recorded: string): string {
  const whole = withoutScratchpads(recorded).replace(codexIntroduction, '')
  const end = whole.search(clientClosing)
  const text = end < 0 ? whole : whole.slice(0, end)
  const [found] = summaryHeading.exec(text) ?? []
  if (found !== undefined) return text.slice(text.search(summaryHeading) + found.length).trim()
  return (clientOpening.test(text) ? text.slice(Math.max(0, text.search(firstSection))) : text).trim()
}

function withoutScratchpads(text: string): string {
  const kept: string[] = []
  let from = 0
  for (;;) {
    const start = text.indexOf('<analysis>', from)
    const end = start < 0 ? -1 : text.indexOf('</analysis>', start)
    if (end < 0) return `${kept.join('')}${text.slice(from)}`
    kept.push(text.slice(from, start))
    from = end + '</analysis>'.length
  }
}
