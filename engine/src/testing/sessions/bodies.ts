// The records inside the envelope, with the fields and key order of each client style.
import type { JsonObject } from '../../core/message/json.ts'
import type { ClientStyle } from './style.ts'

export type Stamp = { readonly uuid: string; readonly timestamp: string }

export type UserBody = Stamp & {
  readonly style: ClientStyle
  readonly content: unknown
  readonly promptId?: string
  readonly flags?: JsonObject
  /** After the timestamp. */
  readonly extra?: JsonObject
}

export function userBody(user: UserBody): JsonObject {
  return {
    ...(user.style === '2.1-late' && user.promptId !== undefined ? { promptId: user.promptId } : {}),
    type: 'user',
    message: { role: 'user', content: user.content },
    ...user.flags,
    uuid: user.uuid,
    timestamp: user.timestamp,
    ...user.extra,
  }
}

/** Fields after the timestamp of a typed prompt. */
export function promptExtra(style: ClientStyle): JsonObject {
  switch (style) {
    case '1.0':
      return {}
    case '2.0':
      return { thinkingMetadata: { level: 'high', disabled: false, triggers: [] }, todos: [] }
    case '2.1-early':
      return { thinkingMetadata: { maxThinkingTokens: 31_999 }, todos: [], permissionMode: 'acceptEdits' }
    case '2.1-late':
      return { permissionMode: 'acceptEdits', origin: { kind: 'human' }, promptSource: 'typed' }
  }
}

export type Counts = {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
}

export function usageOf(style: ClientStyle, counts: Counts): JsonObject {
  const cacheCreation = { ephemeral_5m_input_tokens: counts.cacheWrite, ephemeral_1h_input_tokens: 0 }
  const sizes = {
    input_tokens: counts.input,
    cache_creation_input_tokens: counts.cacheWrite,
    cache_read_input_tokens: counts.cacheRead,
  }
  if (style !== '2.1-late') {
    return { ...sizes, cache_creation: cacheCreation, output_tokens: counts.output, service_tier: 'standard' }
  }
  const iteration = {
    input_tokens: counts.input,
    output_tokens: counts.output,
    cache_read_input_tokens: counts.cacheRead,
    cache_creation_input_tokens: counts.cacheWrite,
    cache_creation: cacheCreation,
    type: 'message',
  }
  return {
    ...sizes,
    output_tokens: counts.output,
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: 'standard',
    cache_creation: cacheCreation,
    inference_geo: 'not_available',
    iterations: [iteration],
    speed: 'standard',
  }
}

export type AssistantBody = Stamp & {
  readonly style: ClientStyle
  readonly model: string
  readonly messageId: string
  readonly requestId: string
  readonly block: JsonObject
  readonly stopReason: 'tool_use' | 'end_turn'
  readonly usage: JsonObject
}

export function assistantBody(answer: AssistantBody): JsonObject {
  const { style, model, messageId: id } = answer
  const isLate = style === '2.1-late'
  const who =
    style === '1.0'
      ? { id, type: 'message', role: 'assistant', model }
      : { model, id, type: 'message', role: 'assistant' }
  const message = {
    ...who,
    content: [answer.block],
    stop_reason: isLate ? answer.stopReason : null,
    stop_sequence: null,
    ...(isLate ? { stop_details: null } : {}),
    usage: answer.usage,
    ...(isLate ? { diagnostics: null } : {}),
  }
  const { requestId, uuid, timestamp } = answer
  return { message, requestId, type: 'assistant', uuid, timestamp, ...(isLate ? { effort: 'high' } : {}) }
}

export function attachmentBody(stamp: Stamp, attachment: JsonObject): JsonObject {
  return { attachment, type: 'attachment', uuid: stamp.uuid, timestamp: stamp.timestamp }
}

export type ProgressIds = { readonly toolUseID: string; readonly parentToolUseID: string }

export function progressBody({ uuid, timestamp }: Stamp, data: JsonObject, ids: ProgressIds): JsonObject {
  return { type: 'progress', data, ...ids, uuid, timestamp }
}

export function systemBody(stamp: Stamp, subtype: string, fields: JsonObject): JsonObject {
  return { type: 'system', subtype, ...fields, timestamp: stamp.timestamp, uuid: stamp.uuid, isMeta: false }
}

export type BoundaryBody = Stamp & { readonly style: ClientStyle; readonly compactMetadata: JsonObject }

export function boundaryBody({ style, uuid, timestamp, compactMetadata }: BoundaryBody): JsonObject {
  const start = { type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted' }
  if (style === '2.1-late') return { ...start, level: 'info', compactMetadata, uuid, timestamp }
  return { ...start, isMeta: false, timestamp, uuid, level: 'info', compactMetadata }
}

/** The metadata of kept lines; nothing if there are none. */
export function preservedFields(uuids: readonly string[], anchorUuid: string, allUuids = uuids): JsonObject {
  if (uuids.length === 0) return {}
  const preservedSegment = { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) }
  return { preservedSegment, preservedMessages: { anchorUuid, uuids, allUuids } }
}

export const summaryFlags = { isVisibleInTranscriptOnly: true, isCompactSummary: true } as const
