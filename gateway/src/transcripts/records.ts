// The records of a transcript, in the Claude Code format. The parent of each message is the previous one. Ids are derived from
// the message and everything before it, so the same message is always the same record, whoever writes it.
import { createHash } from 'node:crypto'
import type { JsonObject } from 'everlong/internal'
import type { StoredRecord } from 'everlong/stores'
import type { Answered, Asked } from '../dialects/dialect.ts'

/** Id of a message in a session, by the digest of everything up to it. */
export function recordId(session: string, digest: string): string {
  const hex = createHash('sha256').update(session).update('\n').update(digest).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}

export type RecordFrame = {
  readonly id: string
  readonly parent: string | null
  readonly session: string
  readonly time: string
  readonly isSidechain: boolean
}

function framed({ id, parent, session, time, isSidechain }: RecordFrame, rest: JsonObject): StoredRecord {
  const record = {
    parentUuid: parent,
    isSidechain,
    userType: 'external',
    sessionId: session,
    ...rest,
    uuid: id,
    timestamp: time,
  }
  return { id, record }
}

type Message = Asked['messages'][number]

/** A message of the history that the client sent. `isSummary`: it replaced everything before it. */
export function messageRecord(
  frame: RecordFrame,
  { role, content, origin }: Message,
  { model, isSummary }: { readonly model: string; readonly isSummary: boolean },
): StoredRecord {
  if (role === 'assistant') {
    return framed(frame, { type: 'assistant', message: { type: 'message', role, model, content } })
  }
  const isNote = origin === 'meta' ? { isMeta: true } : {}
  const summary = isSummary ? { isCompactSummary: true, isVisibleInTranscriptOnly: true } : {}
  return framed(frame, { type: 'user', message: { role, content }, ...isNote, ...summary })
}

export function answerRecord(frame: RecordFrame, answer: Answered, everlong: JsonObject): StoredRecord {
  const { id, model, content, stopReason, usage } = answer
  const message = {
    ...{ type: 'message', role: 'assistant', id, model, content, stop_reason: stopReason },
    usage: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_creation: {
        ephemeral_5m_input_tokens: usage.cacheWrite - usage.cacheWriteHour,
        ephemeral_1h_input_tokens: usage.cacheWriteHour,
      },
    },
  }
  return framed(frame, { type: 'assistant', message, everlong })
}

export type CompactedBy = {
  readonly trigger: 'manual' | 'auto'
  /** The writer of the summary. */
  readonly by: 'client' | 'everlong'
}

export type BoundaryFacts = CompactedBy & {
  readonly preTokens: number | undefined
  /** The newest message before the compaction. */
  readonly after: string | undefined
}

/** The boundary of a client's compaction. The summary, its first message, has it as its parent. */
export function boundaryRecord(frame: RecordFrame, { trigger, preTokens, after, by }: BoundaryFacts): StoredRecord {
  return framed(
    { ...frame, parent: null },
    {
      ...(after === undefined ? {} : { logicalParentUuid: after }),
      ...{
        type: 'system',
        subtype: 'compact_boundary',
        content: 'Conversation compacted',
        isMeta: false,
        level: 'info',
      },
      compactMetadata: { trigger, ...(preTokens === undefined ? {} : { preTokens }) },
      everlong: { gateway: { compactedBy: by } },
    },
  )
}
