// The records of a transcript, in the Claude Code format. Each message hangs on the one before it. Ids are made of what was said
// and everything before it, so that the same message is the same record, whoever writes it and however often it is sent.
import { createHash } from 'node:crypto'
import type { JsonObject } from 'everlong/internal'
import type { StoredRecord } from 'everlong/stores'
import type { Answered, Asked } from '../dialects/dialect.ts'

/** Of a message of a session, by the digest of what was said up to it. */
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

/** A message of the history as the client sent it. `isSummary`: everything before it was replaced with it. */
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
  /** Who wrote the summary. */
  readonly by: 'client' | 'everlong'
}

export type BoundaryFacts = CompactedBy & {
  readonly preTokens: number | undefined
  /** The newest message before the compaction. */
  readonly after: string | undefined
}

/** What a compaction of the client leaves. Its first message, the summary, hangs on it. */
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
