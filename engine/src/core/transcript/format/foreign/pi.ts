// pi sessions. Old files have no ids, so a record's position in the file is its id. A compaction keeps the entries from
// `firstKeptEntry…` up to itself, and its summary comes before them. Edits and compactions apply to their own branch only.

import { defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../../message/json.ts'
import { type Block, blocksOf } from '../../../message/message.ts'
import { neutralizeReminders } from '../../../text/neutralize.ts'
import type { Entry, RecordReader } from '../entry.ts'
import {
  assistantRecord,
  type Chain,
  type ChainPlace,
  createChain,
  editFields,
  resultRecord,
  userRecord,
} from './chain.ts'

export function createPiReader(): RecordReader {
  const chain = createChain()
  let index = -1
  return (record, position) => {
    index++
    if (record.type === 'session') {
      chain.know(defined({ cwd: stringAt(record, 'cwd'), sessionId: stringAt(record, 'id') }))
      return [{ record, position }]
    }
    const place = { uuid: stringAt(record, 'id') ?? idOfPlace(index), timestamp: record.timestamp, position }
    const last = chain.last()
    const parent = record.parentId === null ? null : (stringAt(record, 'parentId') ?? last)
    const turned = last !== null && parent !== null && parent !== last ? [rewind(chain, parent, place)] : []
    chain.goTo(parent)
    if (record.type === 'compaction') return [...turned, ...compaction(record, chain, place)]
    // Unknown records stay in the chain unchanged, so that their children are not orphaned.
    const converted = convert(record, place.uuid) ?? { ...record, type: `pi:${String(record.type)}` }
    return [...turned, chain.add(converted, place)]
  }
}

const idOfPlace = (index: number) => `pi-${index}`

/** pi continues from an earlier entry: edits and compactions of the abandoned branch leave the view. */
function rewind(chain: Chain, to: string, place: ChainPlace): Entry {
  chain.goTo(to)
  return chain.add(editFields({ type: 'rewind', to, mechanism: 'pi' }), { ...place, uuid: `${place.uuid}-rewind` })
}

function convert(record: JsonObject, uuid: string): JsonObject | undefined {
  switch (record.type) {
    case 'message':
      return spoken(record, uuid)
    case 'custom_message':
      return userRecord(content(record.content), true)
    case 'branch_summary': {
      const summary = stringAt(record, 'summary') ?? ''
      return userRecord(`A summary of a branch that this conversation came back from:\n\n${summary}`, true)
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

/** The summary gets the record's own id, because the next record names it as its parent. */
function compaction(record: JsonObject, chain: Chain, place: ChainPlace): readonly Entry[] {
  // Everlong's own compactions have more fields.
  const { metadata, compaction: own } = objectAt(objectAt(record, 'details'), 'everlong') ?? {}
  const first = numberAt(record, 'firstKeptEntryIndex')
  const keptFrom = stringAt(record, 'firstKeptEntryId') ?? (first === undefined ? undefined : idOfPlace(first))
  return chain.compact(
    {
      summary: stringAt(record, 'summary') ?? '',
      // A compaction that keeps nothing names itself.
      keptFrom: keptFrom === place.uuid ? undefined : keptFrom,
      metadata: {
        trigger: 'unknown',
        ...(isObject(metadata) ? metadata : {}),
        preTokens: numberAt(record, 'tokensBefore'),
      },
      everlong: isObject(own) ? { compaction: own } : undefined,
    },
    place,
  )
}

function spoken(record: JsonObject, uuid: string): JsonObject | undefined {
  const message = objectAt(record, 'message')
  if (!message) return undefined
  switch (message.role) {
    case 'user':
      return userRecord(content(message.content))
    case 'custom':
      return userRecord(content(message.content), true)
    case 'assistant': {
      // pi never sends these to a model.
      const isFailed = message.stopReason === 'error' || message.stopReason === 'aborted'
      return { ...assistantRecord(answer(message, uuid)), ...(isFailed ? { isApiErrorMessage: true } : {}) }
    }
    case 'toolResult':
      return resultRecord([
        { tool_use_id: message.toolCallId, content: content(message.content), is_error: message.isError },
      ])
    case 'bashExecution': {
      if (message.excludeFromContext === true) return undefined
      const text = `<bash-input>${String(message.command)}</bash-input>\n<bash-stdout>${neutralizeReminders(String(message.output))}</bash-stdout>`
      return userRecord(text)
    }
    default:
      return undefined
  }
}

function answer(message: JsonObject, uuid: string): JsonObject {
  const usage = objectAt(message, 'usage')
  return {
    id: stringAt(message, 'responseId') ?? uuid,
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
