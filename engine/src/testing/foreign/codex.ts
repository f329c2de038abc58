// Made-up Codex rollouts: {timestamp, type, payload} lines. A compaction contains the history that replaces the old one.
import type { JsonObject } from '../../core/message/json.ts'
import { title } from '../sessions/text.ts'
import { nouns } from '../sessions/words.ts'
import { cwd, type Setting, type SmallSessionOptions, settingOf } from './setting.ts'

export type CodexTruth = {
  readonly compactions: number
  readonly calls: number
  /** Items of the next request: the last replacement history and the response items after it. */
  readonly live: readonly JsonObject[]
}

export type CodexRollout = { readonly records: readonly JsonObject[]; readonly truth: CodexTruth }

type Rollout = Setting & {
  readonly records: JsonObject[]
  tokens: number
  totalTokens: number
  compactions: number
  calls: number
  live: JsonObject[]
}

const windowTokens = 258_400

export function generateCodexRollout(options: SmallSessionOptions): CodexRollout {
  const counts = { tokens: 9_000, totalTokens: 0, compactions: 0, calls: 0 }
  const rollout: Rollout = { ...settingOf(options), ...counts, records: [], live: [] }
  addStart(rollout)
  for (let turn = 1; turn <= rollout.turns; turn += 1) addTurn(rollout, rollout.compactionTurns.includes(turn))
  const { records, live, calls, compactions } = rollout
  return { records, truth: { compactions, calls, live } }
}

function addLine(rollout: Rollout, type: string, payload: JsonObject): void {
  rollout.time += rollout.random.int(5, 6_000)
  rollout.records.push({ timestamp: new Date(rollout.time).toISOString(), type, payload })
}

function addEvent(rollout: Rollout, type: string, payload: JsonObject): void {
  addLine(rollout, 'event_msg', { type, ...payload })
}

/** A part of the conversation: it goes into the next request. */
function addItem(rollout: Rollout, payload: JsonObject): void {
  rollout.tokens += Math.round(JSON.stringify(payload).length / 2.7)
  rollout.live.push(payload)
  addLine(rollout, 'response_item', payload)
}

function message(role: 'user' | 'developer' | 'assistant', text: string): JsonObject {
  return { type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }] }
}

function addStart(rollout: Rollout): void {
  const { random, pool } = rollout
  const timestamp = new Date(rollout.time).toISOString()
  const client = { originator: 'codex_cli_rs', cli_version: '0.118.0', source: 'cli', model_provider: 'openai' }
  const base_instructions = { text: pool.cut('markdown', 1_200) }
  const git = { commit_hash: random.hex(40), branch: 'main' }
  addLine(rollout, 'session_meta', { id: random.uuid(), timestamp, cwd, ...client, base_instructions, git })
  addItem(rollout, message('developer', pool.cut('prose', 400)))
}

function addTurnContext(rollout: Rollout): void {
  const sandbox_policy = { type: 'workspace-write', writable_roots: [], network_access: false }
  const policy = {
    approval_policy: 'on-request',
    sandbox_policy,
    model: 'gpt-5-codex',
    effort: 'high',
    summary: 'auto',
  }
  const when = { current_date: '2026-03-02', timezone: 'UTC' }
  addLine(rollout, 'turn_context', { turn_id: rollout.random.uuid(), cwd, ...when, ...policy })
}

function addTokenCount(rollout: Rollout): void {
  const output = rollout.random.int(20, 900)
  const usage = (input: number) => ({
    input_tokens: input,
    cached_input_tokens: Math.floor(input * 0.8),
    output_tokens: output,
    reasoning_output_tokens: Math.floor(output / 4),
    total_tokens: input + output,
  })
  rollout.totalTokens += rollout.tokens
  const counts = { total_token_usage: usage(rollout.totalTokens), last_token_usage: usage(rollout.tokens) }
  addEvent(rollout, 'token_count', { info: { ...counts, model_context_window: windowTokens }, rate_limits: null })
}

function addTurn(rollout: Rollout, isCompacting: boolean): void {
  const { random, pool } = rollout
  const turn_id = random.uuid()
  addEvent(rollout, 'task_started', { turn_id, model_context_window: windowTokens })
  addTurnContext(rollout)
  const text = `${title(random)}. ${pool.cut('prose', 160)}`
  addItem(rollout, message('user', text))
  addEvent(rollout, 'user_message', { message: text, images: [], local_images: [], text_elements: [] })
  for (let round = random.int(1, 4); round > 0; round -= 1) {
    addItem(rollout, { type: 'reasoning', summary: [], content: null, encrypted_content: pool.base64(400) })
    addCall(rollout)
    addTokenCount(rollout)
  }
  if (isCompacting) addCompaction(rollout)
  const reply = pool.cut('markdown', random.int(100, 800))
  addEvent(rollout, 'agent_message', { message: reply, phase: 'final_answer', memory_citation: null })
  addItem(rollout, { ...message('assistant', reply), phase: 'final_answer' })
  addTokenCount(rollout)
  addEvent(rollout, 'task_complete', { turn_id, last_agent_message: reply })
}

function addCall(rollout: Rollout): void {
  const { random, pool } = rollout
  const call_id = `call_${random.hex(24)}`
  const path = `src/${random.pick(nouns)}.ts`
  rollout.calls += 1
  if (random.chance(0.25)) {
    const input = `*** Begin Patch\n*** Update File: ${path}\n@@\n+// ${pool.sentence()}\n*** End Patch\n`
    const output = JSON.stringify({ output: `Success: M ${path}` })
    addItem(rollout, { type: 'custom_tool_call', status: 'completed', call_id, name: 'apply_patch', input })
    addItem(rollout, { type: 'custom_tool_call_output', call_id, output })
    return
  }
  const args = JSON.stringify({ cmd: `sed -n 1,120p ${path}`, workdir: cwd })
  addItem(rollout, { type: 'function_call', name: 'exec_command', arguments: args, call_id })
  addItem(rollout, { type: 'function_call_output', call_id, output: pool.cut('code', random.int(200, 3_000)) })
}

/** The history is replaced by its last messages and a summary. */
function addCompaction(rollout: Rollout): void {
  const work = rollout.pool.cut('markdown', 900)
  const summary = message('user', `Where the work stands, for whoever goes on with it:\n${work}`)
  const replacement_history = [...rollout.live.filter(({ type }) => type === 'message').slice(-8), summary]
  addLine(rollout, 'compacted', { message: '', replacement_history })
  rollout.compactions += 1
  rollout.live = [...replacement_history]
  rollout.tokens = 9_000 + Math.round(JSON.stringify(replacement_history).length / 2.7)
  addTurnContext(rollout)
  addTokenCount(rollout)
  addEvent(rollout, 'context_compacted', {})
}
