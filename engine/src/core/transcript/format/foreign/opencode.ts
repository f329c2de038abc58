// Sessions of opencode, as `opencode export` prints them: one document, `{ info, messages: [{ info, parts }] }`. A tool's call
// and its result are one part. A compaction is a request with a part of that kind, and an answer that is its summary.
import { arrayAt, defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../../message/json.ts'
import type { Entry, Position, RecordReader } from '../entry.ts'
import { assistantRecord, type Chain, createChain, resultRecord, userRecord } from './chain.ts'

export function createOpencodeReader(): RecordReader {
  return (record, position) => {
    const chain = createChain()
    const info = objectAt(record, 'info')
    chain.know({ sessionId: info?.id, ...defined({ cwd: stringAt(info, 'directory') }) })
    const session: Session = { chain, position, size: undefined, request: undefined }
    const messages = arrayAt(record, 'messages').filter(isObject)
    return [
      // The messages are entries of their own.
      { record: { type: 'opencode:session', info: record.info }, position },
      ...messages.flatMap((message) => entriesOf(message, session)),
    ]
  }
}

type Session = {
  readonly chain: Chain
  readonly position: Position
  /** Tokens of the newest answer. */
  size: number | undefined
  /** The part that asked for the newest compaction. */
  request: JsonObject | undefined
}

function entriesOf(message: JsonObject, session: Session): readonly Entry[] {
  const { chain, position } = session
  const info = objectAt(message, 'info') ?? {}
  const parts = arrayAt(message, 'parts').filter(isObject)
  const created = numberAt(objectAt(info, 'time'), 'created')
  const timestamp = created === undefined ? undefined : new Date(created).toISOString()
  const place = (end = '') => ({ uuid: `${String(info.id)}${end}`, timestamp, position })
  const request = parts.find(({ type }) => type === 'compaction')
  if (request) {
    session.request = request
    return []
  }
  if (info.role === 'user')
    return userRecords(parts).map((record, at) => chain.add(record, place(at === 0 ? '' : '-meta')))
  if (info.role !== 'assistant') return []
  chain.know(defined({ cwd: stringAt(objectAt(info, 'path'), 'cwd') }))
  const text = textsOf(parts).join('\n')
  if (info.summary === true) {
    // A failed or interrupted compaction changed nothing.
    if (isObject(info.error) || text === '') return []
    const asked = session.request
    const trigger = asked === undefined ? 'unknown' : asked.auto === true ? 'auto' : 'manual'
    const metadata = { trigger, preTokens: session.size }
    return chain.compact({ summary: text, metadata, keptFrom: stringAt(asked, 'tail_start_id') }, place())
  }
  const tools = parts.filter(({ type, state }) => type === 'tool' && isFinished(state))
  const content = parts.flatMap((part) => answerBlock(part, tools))
  if (content.length === 0) return []
  const usage = usageOf(objectAt(info, 'tokens'))
  session.size = Object.values(usage).reduce((sum, tokens) => sum + tokens, 0) || session.size
  const answer = chain.add(assistantRecord({ id: info.id, model: info.modelID, content, usage }), place())
  return tools.length === 0 ? [answer] : [answer, chain.add(resultRecord(tools.map(resultOf)), place('-results'))]
}

/** Separates text that opencode adds as the user from the user's own text. */
function userRecords(parts: readonly JsonObject[]): readonly JsonObject[] {
  return [false, true].flatMap((isMeta) => {
    const own = parts.filter(({ synthetic, ignored }) => ignored !== true && (synthetic === true) === isMeta)
    const content = own.flatMap((part): readonly JsonObject[] => {
      if (part.type === 'file') return [{ type: 'text', text: `[file ${String(part.filename ?? part.mime)}]` }]
      return part.type === 'text' ? [{ type: 'text', text: asTyped(String(part.text)) }] : []
    })
    return content.length === 0 ? [] : [userRecord(content, isMeta)]
  })
}

/** `opencode run` puts a prompt with spaces in quotation marks, which the person did not type. */
function asTyped(text: string): string {
  const inner = text.slice(1, -1)
  const isQuoted = text.startsWith('"') && text.endsWith('"') && inner.includes(' ')
  // opencode escapes quotation marks inside the prompt.
  return isQuoted && !inner.replaceAll('\\"', '').includes('"') ? inner.replaceAll('\\"', '"') : text
}

function textsOf(parts: readonly JsonObject[]): readonly string[] {
  return parts.flatMap(({ type, text }) => (type === 'text' && text !== '' ? [String(text)] : []))
}

function isFinished(state: unknown): boolean {
  const status = stringAt(state, 'status')
  return status === 'completed' || status === 'error'
}

function answerBlock(part: JsonObject, finished: readonly JsonObject[]): readonly JsonObject[] {
  const { type, text } = part
  if (type === 'text') return text === '' ? [] : [{ type: 'text', text: String(text) }]
  if (type === 'reasoning') return [{ type: 'thinking', thinking: String(text) }]
  if (!finished.includes(part)) return []
  const input = objectAt(objectAt(part, 'state'), 'input') ?? {}
  return [{ type: 'tool_use', id: part.callID, name: part.tool, input }]
}

/** The exit status of a command is stored next to its output. */
function resultOf(part: JsonObject): JsonObject {
  const state = objectAt(part, 'state')
  const exit = numberAt(objectAt(state, 'metadata'), 'exit') ?? 0
  const output = stringAt(state, 'output') ?? stringAt(state, 'error') ?? ''
  const isFailed = exit !== 0 || state?.status === 'error'
  const content = exit === 0 ? output : `Exit code ${exit}\n${output}`
  return { tool_use_id: part.callID, content, ...(isFailed ? { is_error: true } : {}) }
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
