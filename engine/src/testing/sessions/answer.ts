// One answer as the client stores it: a line per block, all with the same message id, and the results of its calls.
import type { JsonObject } from '../../core/message/json.ts'
import { assistantBody, type Counts, progressBody, usageOf, userBody } from './bodies.ts'
import type { ToolCall } from './calls.ts'
import { makeTask, runSidechain } from './sidechain.ts'
import type { Stage } from './stage.ts'
import { resultsBranch } from './style.ts'
import { makeCall } from './tools.ts'
import { uuidOf } from './truth.ts'

type OpenCall = { readonly id: string; readonly call: ToolCall; readonly line: string }

export type RoundOptions = {
  /** The last call gets no result. */
  readonly isInterrupted?: boolean
  readonly isTask?: boolean
}

export function toolRound(stage: Stage, options: RoundOptions = {}): void {
  const { random, plan } = stage
  const count = random.chance(plan.parallel) ? random.int(2, 4) : 1
  const calls = Array.from({ length: count }, (_, index) => ({
    id: `toolu_01${random.hex(22)}`,
    call: options.isTask && index === 0 ? makeTask(stage) : makeCall(stage.shop),
  }))
  const blocks = [
    ...thinking(stage),
    ...(random.chance(0.6) ? [{ type: 'text', text: stage.pool.cut('prose', random.int(40, 300)) }] : []),
  ]
  const callBlocks = calls.map(({ id, call }) => toolUse(stage, id, call))
  const answer = openAnswer(stage, [...blocks, ...callBlocks], 'tool_use')
  for (const block of blocks) answer.line(block)
  const answered = options.isInterrupted ? calls.length - 1 : calls.length
  const isInterleaved = resultsBranch(plan.style) && random.chance(0.25)
  const open: OpenCall[] = []
  calls.forEach(({ id, call }, index) => {
    const line = answer.line(callBlocks[index] ?? {})
    if (index >= answered) return
    if (isInterleaved) result(stage, { id, call, line }, true)
    else open.push({ id, call, line })
  })
  results(stage, open)
}

export function finalAnswer(stage: Stage): void {
  const text = stage.pool.cut('markdown', stage.random.int(120, 1_600))
  const blocks = [...thinking(stage), { type: 'text', text }]
  const answer = openAnswer(stage, blocks, 'end_turn')
  for (const block of blocks) answer.line(block)
}

function openAnswer(stage: Stage, blocks: readonly JsonObject[], stopReason: 'tool_use' | 'end_turn') {
  const { random, plan, scribe, meter, witness } = stage
  const counts = meter.request(JSON.stringify(blocks).length)
  const [messageId, requestId] = [`msg_01${random.hex(22)}`, `req_011${random.hex(21)}`]
  let written = 0
  return {
    line: (block: JsonObject): string => {
      written += 1
      const usage = usageOf(plan.style, lineCounts(stage, counts, written === blocks.length))
      const ids = { ...scribe.stamp(), messageId, requestId }
      if (written === blocks.length) witness?.answered({ messageId, usage, lines: written, sidechain: false })
      return uuidOf(scribe.line(assistantBody({ ...plan, ...ids, block, stopReason, usage })))
    },
  }
}

/** Before 2.1.100 only the last line has the final output count. */
function lineCounts(stage: Stage, counts: Counts, isLast: boolean): Counts {
  if (stage.plan.style === '2.1-late' || isLast) return counts
  return { ...counts, output: Math.min(counts.output, stage.random.int(1, 8)) }
}

function thinking({ random, plan, pool }: Stage): readonly JsonObject[] {
  if (plan.style === '1.0' || !random.chance(plan.thinking)) return []
  const text = plan.style === '2.1-late' ? '' : pool.cut('prose', random.int(80, 900))
  return [{ type: 'thinking', thinking: text, signature: pool.base64(random.int(40, 200) * 4) }]
}

function toolUse({ plan }: Stage, id: string, call: ToolCall): JsonObject {
  const block = { type: 'tool_use', id, name: call.name, input: call.input }
  return plan.style === '2.1-late' ? { ...block, caller: { type: 'direct' } } : block
}

/** In the order they finish; the chain continues from the last one. */
function results(stage: Stage, open: readonly OpenCall[]): void {
  const waiting = [...open]
  while (waiting.length > 0) {
    const [next] = waiting.splice(resultsBranch(stage.plan.style) ? stage.random.int(0, waiting.length - 1) : 0, 1)
    if (next) result(stage, next, waiting.length === 0)
  }
}

function result(stage: Stage, open: OpenCall, isLast: boolean): void {
  const { plan, scribe, meter, progress } = stage
  const { id, call, line } = open
  if (call.name === 'Task') runSidechain(stage, { toolUseId: id, call })
  else if (plan.progress) bashProgress(stage, open)
  const { content, isError, toolUseResult } = call
  meter.heard(typeof content === 'string' ? content.length : 4_000)
  const branches = resultsBranch(plan.style)
  const block = {
    tool_use_id: id,
    type: 'tool_result',
    content,
    ...(isError || call.name === 'Bash' ? { is_error: isError } : {}),
  }
  const body = userBody({
    ...scribe.stamp(),
    style: plan.style,
    content: [block],
    promptId: progress.promptId,
    extra: { toolUseResult, ...(branches ? { sourceToolAssistantUUID: line } : {}) },
  })
  if (branches) scribe.line(body, { parent: line, standing: isLast ? 'chain' : 'sibling' })
  else scribe.line(body)
  stage.recentCalls.push(id)
  if (stage.recentCalls.length > 20) stage.recentCalls.shift()
}

/** Progress lines are children of the call and have none of their own. */
function bashProgress(stage: Stage, open: OpenCall): void {
  const { random, scribe } = stage
  if (open.call.name !== 'Bash' || !random.chance(0.5)) return
  let parent = open.line
  for (let step = random.int(1, 3); step > 0; step -= 1) {
    const fullOutput = stage.pool.cut('log', random.int(80, 800))
    const output = fullOutput.slice(-200)
    const data = { type: 'bash_progress', output, fullOutput, elapsedTimeSeconds: 5 - step, totalLines: 12 }
    const ids = { toolUseID: `bash-progress-${step}`, parentToolUseID: open.id }
    const body = progressBody(scribe.stamp(), data, ids)
    parent = uuidOf(scribe.line(body, { parent, standing: 'dead-end' }))
  }
}
