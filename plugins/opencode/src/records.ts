// The messages of an opencode session as records in the Claude Code format, which everything else in Everlong reads. Pure.
import type { Block } from 'everlong'
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from 'everlong/transcript'
import type { SessionMessage } from './opencode-api.ts'

type Chain = { previous: string | null; readonly records: JsonObject[]; size: number | undefined }

export function recordsOf(messages: readonly SessionMessage[]): readonly JsonObject[] {
  const chain: Chain = { previous: null, records: [], size: undefined }
  for (const [at, message] of messages.entries()) {
    const request = compactionPart(message)
    if (request !== undefined) continue
    const { info } = message
    if (isSummary(info)) addCompaction(chain, message, messages.slice(0, at))
    else if (info.role === 'user') addUser(chain, message)
    else addAssistant(chain, message)
  }
  return chain.records
}

/** The answer that a compaction asked for. */
export function isSummary(info: JsonObject): boolean {
  return info.role === 'assistant' && info.summary === true
}

function compactionPart({ parts }: SessionMessage): JsonObject | undefined {
  return parts.find(({ type }) => type === 'compaction')
}

function add(chain: Chain, info: JsonObject, record: JsonObject): void {
  const created = numberAt(objectAt(info, 'time'), 'created')
  const cwd = stringAt(objectAt(info, 'path'), 'cwd')
  chain.records.push({
    parentUuid: chain.previous,
    sessionId: info.sessionID,
    timestamp: created === undefined ? undefined : new Date(created).toISOString(),
    isSidechain: false,
    ...(cwd === undefined ? {} : { cwd }),
    ...record,
  })
  chain.previous = String(record.uuid)
}

function addUser(chain: Chain, { info, parts }: SessionMessage): void {
  const texts = (isMeta: boolean) =>
    parts.filter((part) => part.ignored !== true && (part.synthetic === true) === isMeta).flatMap(userBlock)
  // What opencode says in the user's name stands apart from what the user said.
  for (const isMeta of [false, true]) {
    const content = texts(isMeta)
    const uuid = isMeta ? `${String(info.id)}-meta` : info.id
    if (content.length > 0) add(chain, info, { type: 'user', uuid, isMeta, message: { role: 'user', content } })
  }
}

function userBlock(part: JsonObject): readonly Block[] {
  if (part.type === 'text') return [{ type: 'text', text: String(part.text) }]
  if (part.type !== 'file') return []
  return [{ type: 'text', text: `[file ${String(part.filename ?? part.mime)}]` }]
}

function addAssistant(chain: Chain, { info, parts }: SessionMessage): void {
  const done = parts.filter((part) => part.type !== 'tool' || isFinished(part))
  const content = done.flatMap(assistantBlock)
  if (content.length === 0) return
  const { id } = info
  const usage = usageOf(objectAt(info, 'tokens'))
  chain.size = Object.values(usage).reduce((sum, count) => sum + count, 0) || chain.size
  const message = { id, role: 'assistant', model: info.modelID, content, usage }
  add(chain, info, { type: 'assistant', uuid: id, message })
  const results = done.filter(({ type }) => type === 'tool').map(resultBlock)
  if (results.length === 0) return
  add(chain, info, { type: 'user', uuid: `${String(id)}-results`, message: { role: 'user', content: results } })
}

function isFinished(part: JsonObject): boolean {
  const status = objectAt(part, 'state')?.status
  return status === 'completed' || status === 'error'
}

function assistantBlock(part: JsonObject): readonly Block[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: String(part.text) }]
  if (part.type === 'reasoning') return [{ type: 'thinking', thinking: String(part.text) }]
  if (part.type !== 'tool') return []
  const input = objectAt(part, 'state')?.input ?? {}
  return [{ type: 'tool_use', id: String(part.callID), name: String(part.tool), input }]
}

/** opencode tells how a command ended beside its output. */
function resultBlock(part: JsonObject): Block {
  const state = objectAt(part, 'state')
  const exit = numberAt(objectAt(state, 'metadata'), 'exit') ?? 0
  const output = stringAt(state, 'output') ?? stringAt(state, 'error') ?? ''
  const content = exit === 0 ? output : `Exit code ${exit}\n${output}`
  const isError = exit !== 0 || state?.status === 'error'
  return { type: 'tool_result', tool_use_id: String(part.callID), content, ...(isError ? { is_error: true } : {}) }
}

function usageOf(tokens: JsonObject | undefined) {
  const cache = objectAt(tokens, 'cache')
  return {
    input_tokens: numberAt(tokens, 'input') ?? 0,
    cache_read_input_tokens: numberAt(cache, 'read') ?? 0,
    cache_creation_input_tokens: numberAt(cache, 'write') ?? 0,
    output_tokens: (numberAt(tokens, 'output') ?? 0) + (numberAt(tokens, 'reasoning') ?? 0),
  }
}

/** A compaction that failed or was stopped changed nothing. */
function addCompaction(chain: Chain, { info, parts }: SessionMessage, before: readonly SessionMessage[]): void {
  const text = parts.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('\n')
  if (isObject(info.error) || text === '') return
  const request = before.findLast((message) => compactionPart(message) !== undefined)
  const part = request && compactionPart(request)
  const uuid = `${String(info.id)}-boundary`
  const last = chain.previous
  const head = stringAt(part, 'tail_start_id')
  const kept = head === undefined || last === null ? {} : { preservedSegment: segment(head, last, String(info.id)) }
  const compactMetadata = { trigger: part?.auto === true ? 'auto' : 'manual', preTokens: chain.size, ...kept }
  chain.previous = null
  const content = 'Conversation compacted'
  add(chain, info, {
    ...{ type: 'system', subtype: 'compact_boundary', uuid, content, compactMetadata },
    logicalParentUuid: last,
  })
  add(chain, info, { type: 'user', uuid: info.id, isCompactSummary: true, message: { role: 'user', content: text } })
}

/** What stays word for word behind the summary. */
function segment(headUuid: string, tailUuid: string, anchorUuid: string) {
  return { headUuid, anchorUuid, tailUuid }
}
