// pi sessions. Old files have no ids: a record's place in the file stands for it. A compaction keeps the stretch
// from `firstKeptEntry…` up to itself, and its summary comes before that stretch. Edits and compactions count on their
// own branch only.
import { type Block, blocksOf } from '../../../message/block.ts'
import { defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../../message/json.ts'
import { neutralizeReminders } from '../../../text/neutralize.ts'
import { editSubtype } from '../edits.ts'
import type { Entry, Position, RecordReader } from '../entry.ts'

export function createPiReader(): RecordReader {
  let index = -1
  let previous: string | null = null
  let envelope: JsonObject = {}
  return (record, position) => {
    index++
    if (record.type === 'session') {
      envelope = defined({ cwd: stringAt(record, 'cwd'), sessionId: stringAt(record, 'id') })
      return [{ record, position }]
    }
    const uuid = stringAt(record, 'id') ?? idOfPlace(index)
    const parentUuid = record.parentId === null ? null : (stringAt(record, 'parentId') ?? previous)
    const link = { ...envelope, uuid, parentUuid, timestamp: record.timestamp, isSidechain: false }
    const isTurned = previous !== null && parentUuid !== null && parentUuid !== previous
    const turned = isTurned ? [rewind(link, position)] : []
    previous = uuid
    if (record.type === 'compaction') return [...turned, ...compaction(record, position, link)]
    // What we do not know stays in the chain as it is, so that nothing that hangs on it is orphaned.
    const converted = convert(record, uuid) ?? { ...record, type: `pi:${String(record.type)}` }
    return [...turned, { record: { ...converted, ...link }, position }]
  }
}

const idOfPlace = (index: number) => `pi-${index}`

type Link = { readonly uuid: string; readonly parentUuid: string | null; readonly timestamp: unknown }

/** pi goes on from an earlier entry: edits and compactions of the branch it left are out of the view. */
function rewind(link: Link, position: Position): Entry {
  const edit = { type: 'rewind', to: link.parentUuid, mechanism: 'pi' }
  return { record: { ...link, uuid: `${link.uuid}-rewind`, ...editFields(edit) }, position }
}

function editFields(edit: JsonObject): JsonObject {
  return { type: 'system', subtype: editSubtype, content: `Context edited: ${String(edit.type)}`, everlong: { edit } }
}

function convert(record: JsonObject, uuid: string): JsonObject | undefined {
  switch (record.type) {
    case 'message':
      return spoken(record, uuid)
    case 'custom_message':
      return { type: 'user', isMeta: true, message: { role: 'user', content: content(record.content) } }
    case 'branch_summary': {
      const text = `A summary of a branch that this conversation came back from:\n\n${stringAt(record, 'summary') ?? ''}`
      return { type: 'user', isMeta: true, message: { role: 'user', content: text } }
    }
    case 'context_edit': {
      const replacement = objectAt(record, 'replacement')
      const replaced = replacement ? content(replacement.content) : null
      return editFields({ type: 'replace-content', uuid: record.targetId, content: replaced, mechanism: 'pi' })
    }
    default:
      return undefined
  }
}

/** The summary takes the record's own id, since that is what the next record hangs on. */
function compaction(record: JsonObject, position: Position, link: Link): readonly Entry[] {
  const boundaryUuid = `${link.uuid}-boundary`
  // A compaction of ours says more about itself.
  const { metadata, compaction: own } = objectAt(objectAt(record, 'details'), 'everlong') ?? {}
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
      ...(isObject(metadata) ? metadata : {}),
      preTokens: numberAt(record, 'tokensBefore'),
      preservedSegment: keptSegment(record, link),
    },
    ...(isObject(own) ? { everlong: { compaction: own } } : {}),
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

/** A compaction that keeps nothing names itself as the first kept entry. */
function keptSegment(record: JsonObject, { uuid, parentUuid }: Link): JsonObject | undefined {
  const place = numberAt(record, 'firstKeptEntryIndex')
  const head = stringAt(record, 'firstKeptEntryId') ?? (place === undefined ? undefined : idOfPlace(place))
  if (head === undefined || head === uuid || parentUuid === null) return undefined
  return { headUuid: head, anchorUuid: uuid, tailUuid: parentUuid }
}

function spoken(record: JsonObject, uuid: string): JsonObject | undefined {
  const message = objectAt(record, 'message')
  if (!message) return undefined
  switch (message.role) {
    case 'user':
      return { type: 'user', message: { role: 'user', content: content(message.content) } }
    case 'custom':
      return { type: 'user', isMeta: true, message: { role: 'user', content: content(message.content) } }
    case 'assistant': {
      // pi sends these to no model.
      const isFailed = message.stopReason === 'error' || message.stopReason === 'aborted'
      return { type: 'assistant', message: answer(message, uuid), ...(isFailed ? { isApiErrorMessage: true } : {}) }
    }
    case 'toolResult': {
      const said = { tool_use_id: message.toolCallId, content: content(message.content), is_error: message.isError }
      return { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', ...said }] } }
    }
    case 'bashExecution': {
      if (message.excludeFromContext === true) return undefined
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
