// Made-up Codex rollouts: {timestamp, type, payload} lines, with compactions that carry the history they put in place.
import type { JsonObject } from '../core/message/json.ts'
import { type Random, random } from './random.ts'
import { type SmallSessionOptions, scheduleOf } from './schedule.ts'
import { type TextPool, textPool, title } from './text.ts'
import { nouns } from './words.ts'

export type CodexTruth = {
  readonly compactions: number
  readonly calls: number
  /** Items the next request would carry: the last replacement history and the response items after it. */
  readonly live: readonly JsonObject[]
}

export type CodexRollout = { readonly records: readonly JsonObject[]; readonly truth: CodexTruth }

type Desk = {
  readonly random: Random
  readonly pool: TextPool
  readonly records: JsonObject[]
  time: number
  tokens: number
  totalTokens: number
  compactions: number
  calls: number
  live: JsonObject[]
}

const cwd = '/home/dev/orchard-service'
const windowTokens = 258_400

export function generateCodexRollout(options: SmallSessionOptions): CodexRollout {
  const chance = random(options.seed)
  const { turns, compactionTurns, startTime } = scheduleOf(options)
  const desk: Desk = {
    random: chance,
    pool: textPool(chance),
    records: [],
    time: startTime,
    tokens: 9_000,
    totalTokens: 0,
    compactions: 0,
    calls: 0,
    live: [],
  }
  open(desk)
  for (let turn = 1; turn <= turns; turn += 1) playTurn(desk, compactionTurns.includes(turn))
  const { records, live, calls } = desk
  return { records, truth: { compactions: desk.compactions, calls, live } }
}

function line(desk: Desk, type: string, payload: JsonObject): void {
  desk.time += desk.random.int(5, 6_000)
  desk.records.push({ timestamp: new Date(desk.time).toISOString(), type, payload })
}

/** A piece of the conversation: it goes into the next request. */
function item(desk: Desk, payload: JsonObject): void {
  desk.tokens += Math.round(JSON.stringify(payload).length / 2.7)
  desk.live.push(payload)
  line(desk, 'response_item', payload)
}

function said(role: 'user' | 'developer' | 'assistant', text: string): JsonObject {
  return { type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }] }
}

function open(desk: Desk): void {
  const { random: chance, pool } = desk
  const timestamp = new Date(desk.time).toISOString()
  const client = { originator: 'codex_cli_rs', cli_version: '0.118.0', source: 'cli', model_provider: 'openai' }
  const base_instructions = { text: pool.cut('markdown', 1_200) }
  const git = { commit_hash: chance.hex(40), branch: 'main' }
  line(desk, 'session_meta', { id: chance.uuid(), timestamp, cwd, ...client, base_instructions, git })
  item(desk, said('developer', pool.cut('prose', 400)))
}

function turnContext(desk: Desk): void {
  const sandbox_policy = { type: 'workspace-write', writable_roots: [], network_access: false }
  const policy = {
    approval_policy: 'on-request',
    sandbox_policy,
    model: 'gpt-5-codex',
    effort: 'high',
    summary: 'auto',
  }
  line(desk, 'turn_context', {
    turn_id: desk.random.uuid(),
    cwd,
    current_date: '2026-03-02',
    timezone: 'UTC',
    ...policy,
  })
}

function tokenCount(desk: Desk): void {
  const output = desk.random.int(20, 900)
  const usage = (input: number) => ({
    input_tokens: input,
    cached_input_tokens: Math.floor(input * 0.8),
    output_tokens: output,
    reasoning_output_tokens: Math.floor(output / 4),
    total_tokens: input + output,
  })
  desk.totalTokens += desk.tokens
  const counts = { total_token_usage: usage(desk.totalTokens), last_token_usage: usage(desk.tokens) }
  line(desk, 'event_msg', {
    type: 'token_count',
    info: { ...counts, model_context_window: windowTokens },
    rate_limits: null,
  })
}

function playTurn(desk: Desk, isCompacting: boolean): void {
  const { random: chance, pool } = desk
  const turn_id = chance.uuid()
  line(desk, 'event_msg', { type: 'task_started', turn_id, model_context_window: windowTokens })
  turnContext(desk)
  const text = `${title(chance)}. ${pool.cut('prose', 160)}`
  item(desk, said('user', text))
  line(desk, 'event_msg', { type: 'user_message', message: text, images: [], local_images: [], text_elements: [] })
  for (let round = chance.int(1, 4); round > 0; round -= 1) {
    item(desk, { type: 'reasoning', summary: [], content: null, encrypted_content: pool.base64(400) })
    call(desk)
    tokenCount(desk)
  }
  if (isCompacting) compacted(desk)
  const reply = pool.cut('markdown', chance.int(100, 800))
  line(desk, 'event_msg', { type: 'agent_message', message: reply, phase: 'final_answer', memory_citation: null })
  item(desk, { ...said('assistant', reply), phase: 'final_answer' })
  tokenCount(desk)
  line(desk, 'event_msg', { type: 'task_complete', turn_id, last_agent_message: reply })
}

function call(desk: Desk): void {
  const { random: chance, pool } = desk
  const call_id = `call_${chance.hex(24)}`
  const path = `src/${chance.pick(nouns)}.ts`
  desk.calls += 1
  if (chance.chance(0.25)) {
    const input = `*** Begin Patch\n*** Update File: ${path}\n@@\n+// ${pool.sentence()}\n*** End Patch\n`
    item(desk, { type: 'custom_tool_call', status: 'completed', call_id, name: 'apply_patch', input })
    item(desk, { type: 'custom_tool_call_output', call_id, output: JSON.stringify({ output: `Success: M ${path}` }) })
    return
  }
  const args = JSON.stringify({ cmd: `sed -n 1,120p ${path}`, workdir: cwd })
  item(desk, { type: 'function_call', name: 'exec_command', arguments: args, call_id })
  item(desk, { type: 'function_call_output', call_id, output: pool.cut('code', chance.int(200, 3_000)) })
}

/** What is put in place of the history: the messages people typed and were answered, and a summary. */
function compacted(desk: Desk): void {
  const summary = said('user', `Where the work stands, for whoever goes on with it:\n${desk.pool.cut('markdown', 900)}`)
  const replacement_history = [...desk.live.filter((payload) => payload.type === 'message').slice(-8), summary]
  line(desk, 'compacted', { message: '', replacement_history })
  desk.compactions += 1
  desk.live = [...replacement_history]
  desk.tokens = 9_000 + Math.round(JSON.stringify(replacement_history).length / 2.7)
  turnContext(desk)
  tokenCount(desk)
  line(desk, 'event_msg', { type: 'context_compacted' })
}
