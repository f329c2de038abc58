// Made-up sessions in pi's format: version 1, flat and without ids, and version 3, linked by id and parentId.
import type { JsonObject } from '../core/message/json.ts'
import { type Random, random } from './random.ts'
import { type SmallSessionOptions, scheduleOf } from './schedule.ts'
import { type TextPool, textPool, title } from './text.ts'
import { nouns } from './words.ts'

export type PiOptions = SmallSessionOptions & { readonly version?: 1 | 3 }

export type PiTruth = {
  readonly compactions: number
  readonly messages: number
  /** Lines of the view, by their place in the file from 0: the last compaction, the kept messages, what followed. */
  readonly live: readonly number[]
}

export type PiSession = { readonly records: readonly JsonObject[]; readonly truth: PiTruth }

type Bench = {
  readonly random: Random
  readonly pool: TextPool
  readonly records: JsonObject[]
  readonly version: 1 | 3
  time: number
  tokens: number
  lastId: string | null
}

export function generatePiSession(options: PiOptions): PiSession {
  const chance = random(options.seed)
  const { turns, compactionTurns, startTime } = scheduleOf(options)
  const bench: Bench = {
    random: chance,
    pool: textPool(chance),
    records: [],
    version: options.version ?? 3,
    time: startTime,
    tokens: 6_000,
    lastId: null,
  }
  bench.records.push(header(bench))
  let firstKept = 0
  for (let turn = 1; turn <= turns; turn += 1) {
    const start = bench.records.length
    playTurn(bench)
    if (!compactionTurns.includes(turn)) continue
    compaction(bench, start)
    firstKept = start
  }
  return { records: bench.records, truth: truthOf(bench.records, firstKept) }
}

function truthOf(records: readonly JsonObject[], firstKept: number): PiTruth {
  const messages = [...records.keys()].filter((index) => records[index]?.type === 'message')
  const compactions = [...records.keys()].filter((index) => records[index]?.type === 'compaction')
  return {
    compactions: compactions.length,
    messages: messages.length,
    live: [...compactions.slice(-1), ...messages.filter((index) => index >= firstKept)],
  }
}

function header(bench: Bench): JsonObject {
  const start = { type: 'session', ...(bench.version === 3 ? { version: 3 } : {}), id: bench.random.uuid() }
  const place = { timestamp: moment(bench), cwd: '/home/dev/orchard-service' }
  const model = { provider: 'anthropic', modelId: 'claude-sonnet-4-5', thinkingLevel: 'off' }
  return { ...start, ...place, ...(bench.version === 1 ? model : {}) }
}

function moment(bench: Bench): string {
  bench.time += bench.random.int(200, 9_000)
  return new Date(bench.time).toISOString()
}

/** Version 3 gives each line an id of eight digits and the id of the line before. */
function add(bench: Bench, type: string, fields: JsonObject): void {
  const id = bench.random.hex(8)
  const links = bench.version === 3 ? { id, parentId: bench.lastId } : {}
  bench.records.push({ type, ...links, timestamp: moment(bench), ...fields })
  bench.lastId = id
}

function playTurn(bench: Bench): void {
  const { random: chance, pool } = bench
  message(bench, { role: 'user', content: [{ type: 'text', text: `${title(chance)}. ${pool.cut('prose', 200)}` }] })
  for (let round = chance.int(1, 3); round > 0; round -= 1) {
    const id = `toolu_01${chance.hex(22)}`
    const [toolName, path] = [chance.pick(['read', 'bash', 'edit']), `src/${chance.pick(nouns)}.ts`]
    const call = { type: 'toolCall', id, name: toolName, arguments: { path } }
    answer(
      bench,
      [{ type: 'thinking', thinking: pool.sentence(), thinkingSignature: pool.base64(120) }, call],
      'toolUse',
    )
    const content = [{ type: 'text', text: pool.cut('code', chance.int(200, 3_000)) }]
    message(bench, { role: 'toolResult', toolCallId: id, toolName, content, isError: chance.chance(0.1) })
  }
  answer(bench, [{ type: 'text', text: pool.cut('markdown', chance.int(100, 900)) }], 'stop')
}

function message(bench: Bench, fields: JsonObject): void {
  bench.tokens += Math.round(JSON.stringify(fields).length / 2.7)
  add(bench, 'message', { message: { ...fields, timestamp: bench.time } })
}

function answer(bench: Bench, content: readonly JsonObject[], stopReason: string): void {
  const [input, output] = [bench.random.int(2, 12), bench.random.int(30, 900)]
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  const usage = {
    input,
    output,
    cacheRead: bench.tokens - input,
    cacheWrite: 0,
    totalTokens: bench.tokens + output,
    cost,
  }
  const who = { api: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-4-5' }
  message(bench, { role: 'assistant', content, ...who, usage, stopReason })
}

/** Keeps the messages from that line on. */
function compaction(bench: Bench, firstKeptEntryIndex: number): void {
  const summary = `# Where things stand\n\n${bench.pool.cut('markdown', 900)}`
  const kept =
    bench.version === 1 ? { firstKeptEntryIndex } : { firstKeptEntryId: bench.records[firstKeptEntryIndex]?.id }
  add(bench, 'compaction', { summary, ...kept, tokensBefore: bench.tokens })
  bench.tokens = 9_000
}
