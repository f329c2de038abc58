// pi sessions. Old files have no ids: a record's place in the file stands for it. A compaction keeps the stretch
// from `firstKeptEntry…` up to itself, and its summary comes before that stretch.
import { type Block, blocksOf } from '../../../message/block.ts'
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../../message/json.ts'
import { neutralizeReminders } from '../../../text/neutralize.ts'
import type { Entry, Position, RecordReader } from '../entry.ts'

export function createPiReader(): RecordReader {
  let index = -1
  let previous: string | null = null
  return (record, position) => {
    index++
    if (record.type === 'session') return [{ record, position }]
    const uuid = stringAt(record, 'id') ?? idOfPlace(index)
    const parentUuid = record.parentId === null ? null : (stringAt(record, 'parentId') ?? previous)
    const link = { uuid, parentUuid, timestamp: record.timestamp, isSidechain: false }
    previous = uuid
    if (record.type === 'compaction') return compaction(record, position, link)
    const converted = record.type === 'message' ? spoken(record, uuid) : undefined
    // What we do not know stays in the chain as it is, so that nothing that hangs on it is orphaned.
    return [{ record: { ...(converted ?? { ...record, type: `pi:${String(record.type)}` }), ...link }, position }]
  }
}

const idOfPlace = (index: number) => `pi-${index}`

type Link = { readonly uuid: string; readonly parentUuid: string | null; readonly timestamp: unknown }

/** The summary takes the record's own id, since that is what the next record hangs on. */
function compaction(record: JsonObject, position: Position, link: Link): readonly Entry[] {
  const boundaryUuid = `${link.uuid}-boundary`
  const place = numberAt(record, 'firstKeptEntryIndex')
  const head = stringAt(record, 'firstKeptEntryId') ?? (place === undefined ? undefined : idOfPlace(place))
  const boundary = {
    ...link,
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    uuid: boundaryUuid,
    parentUuid: null,
    logicalParentUuid: link.parentUuid,
    compactMetadata: {
      trigger: 'unknown',
      preTokens: numberAt(record, 'tokensBefore'),
      preservedSegment:
        head && link.parentUuid ? { headUuid: head, anchorUuid: link.uuid, tailUuid: link.parentUuid } : undefined,
    },
  }
  const summary = {
    ...link,
    type: 'user',
    parentUuid: boundaryUuid,
    isCompactSummary: true,
    message: { role: 'user', content: stringAt(record, 'summary') ?? '' },
  }
  return [
    { record: boundary, position },
    { record: summary, position },
  ]
}

function spoken(record: JsonObject, uuid: string): JsonObject | undefined {
  const message = objectAt(record, 'message')
  if (!message) return undefined
  switch (message.role) {
    case 'user':
      return { type: 'user', message: { role: 'user', content: content(message.content) } }
    case 'assistant':
      return { type: 'assistant', message: answer(message, uuid) }
    case 'toolResult': {
      const said = { tool_use_id: message.toolCallId, content: content(message.content), is_error: message.isError }
      return { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', ...said }] } }
    }
    case 'bashExecution': {
      const text = `<bash-input>${String(message.command)}</bash-input>\n<bash-stdout>${neutralizeReminders(String(message.output))}</bash-stdout>`
      return { type: 'user', message: { role: 'user', content: text } }
    }
    default:
      return undefined
  }
}

function answer(message: JsonObject, uuid: string): JsonObject {
  const usage = objectAt(message, 'usage')
  return {
    id: stringAt(message, 'responseId') ?? uuid,
    role: 'assistant',
    model: message.model,
    content: content(message.content),
    usage: usage && {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation_input_tokens: usage.cacheWrite,
    },
  }
}

function content(value: unknown): unknown {
  return typeof value === 'string' ? value : blocksOf(value).map(block)
}

function block(from: Block): Block {
  if (from.type === 'toolCall') {
    return { type: 'tool_use', id: from.id, name: from.name, input: isObject(from.arguments) ? from.arguments : {} }
  }
  if (from.type === 'thinking') {
    return { type: 'thinking', thinking: from.thinking, signature: from.thinkingSignature }
  }
  if (from.type === 'image' && typeof from.data === 'string') {
    return { type: 'image', source: { type: 'base64', media_type: from.mimeType, data: from.data } }
  }
  return from
}
