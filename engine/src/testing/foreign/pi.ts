// Made-up sessions in pi's format: version 1, flat and without ids, and version 3, linked by id and parentId.
import type { JsonObject } from '../../core/message/json.ts'
import { title } from '../sessions/text.ts'
import { nouns } from '../sessions/words.ts'
import { cwd, type Setting, type SmallSessionOptions, settingOf } from './setting.ts'

export type PiOptions = SmallSessionOptions & { readonly version?: 1 | 3 }

export type PiTruth = {
  readonly compactions: number
  readonly messages: number
  /** Line indexes of the view: the last compaction, the kept messages, what followed. */
  readonly live: readonly number[]
}

export type PiSession = { readonly records: readonly JsonObject[]; readonly truth: PiTruth }

type Session = Setting & {
  readonly records: JsonObject[]
  readonly version: 1 | 3
  tokens: number
  lastId: string | null
}

export function generatePiSession(options: PiOptions): PiSession {
  const start = { records: [], version: options.version ?? 3, tokens: 6_000, lastId: null }
  const session: Session = { ...settingOf(options), ...start }
  session.records.push(header(session))
  let firstKept = 0
  for (let turn = 1; turn <= session.turns; turn += 1) {
    const turnStart = session.records.length
    addTurn(session)
    if (!session.compactionTurns.includes(turn)) continue
    addCompaction(session, turnStart)
    firstKept = turnStart
  }
  return { records: session.records, truth: truthOf(session.records, firstKept) }
}

function truthOf(records: readonly JsonObject[], firstKept: number): PiTruth {
  const linesOf = (type: string) => [...records.keys()].filter((index) => records[index]?.type === type)
  const [messages, compactions] = [linesOf('message'), linesOf('compaction')]
  const live = [...compactions.slice(-1), ...messages.filter((index) => index >= firstKept)]
  return { compactions: compactions.length, messages: messages.length, live }
}

function header(session: Session): JsonObject {
  const start = { type: 'session', ...(session.version === 3 ? { version: 3 } : {}), id: session.random.uuid() }
  const model = { provider: 'anthropic', modelId: 'claude-sonnet-4-5', thinkingLevel: 'off' }
  return { ...start, timestamp: nextTime(session), cwd, ...(session.version === 1 ? model : {}) }
}

function nextTime(session: Session): string {
  session.time += session.random.int(200, 9_000)
  return new Date(session.time).toISOString()
}

/** Version 3 gives each line an id of eight digits and the id of the line before. */
function add(session: Session, type: string, fields: JsonObject): void {
  const id = session.random.hex(8)
  const links = session.version === 3 ? { id, parentId: session.lastId } : {}
  session.records.push({ type, ...links, timestamp: nextTime(session), ...fields })
  session.lastId = id
}

function addTurn(session: Session): void {
  const { random, pool } = session
  addMessage(session, {
    role: 'user',
    content: [{ type: 'text', text: `${title(random)}. ${pool.cut('prose', 200)}` }],
  })
  for (let round = random.int(1, 3); round > 0; round -= 1) {
    const id = `toolu_01${random.hex(22)}`
    const [toolName, path] = [random.pick(['read', 'bash', 'edit']), `src/${random.pick(nouns)}.ts`]
    const thinking = { type: 'thinking', thinking: pool.sentence(), thinkingSignature: pool.base64(120) }
    addAnswer(session, [thinking, { type: 'toolCall', id, name: toolName, arguments: { path } }], 'toolUse')
    const content = [{ type: 'text', text: pool.cut('code', random.int(200, 3_000)) }]
    addMessage(session, { role: 'toolResult', toolCallId: id, toolName, content, isError: random.chance(0.1) })
  }
  addAnswer(session, [{ type: 'text', text: pool.cut('markdown', random.int(100, 900)) }], 'stop')
}

function addMessage(session: Session, fields: JsonObject): void {
  session.tokens += Math.round(JSON.stringify(fields).length / 2.7)
  add(session, 'message', { message: { ...fields, timestamp: session.time } })
}

function addAnswer(session: Session, content: readonly JsonObject[], stopReason: string): void {
  const [input, output] = [session.random.int(2, 12), session.random.int(30, 900)]
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  const totals = { cacheRead: session.tokens - input, cacheWrite: 0, totalTokens: session.tokens + output }
  const model = { api: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-4-5' }
  const usage = { input, output, ...totals, cost }
  addMessage(session, { role: 'assistant', content, ...model, usage, stopReason })
}

/** Keeps the messages from that line on. */
function addCompaction(session: Session, firstKeptEntryIndex: number): void {
  const summary = `# Where things stand\n\n${session.pool.cut('markdown', 900)}`
  const firstKeptEntryId = session.records[firstKeptEntryIndex]?.id
  const kept = session.version === 1 ? { firstKeptEntryIndex } : { firstKeptEntryId }
  add(session, 'compaction', { summary, ...kept, tokensBefore: session.tokens })
  session.tokens = 9_000
}
