// A sub-agent's lines inside the file (isSidechain), with a root of their own.
import type { JsonObject } from '../../core/message/json.ts'
import { assistantBody, progressBody, usageOf, userBody } from './bodies.ts'
import { type ToolCall, taskCall } from './calls.ts'
import type { Stage } from './stage.ts'
import { resultsBranch } from './style.ts'
import { title } from './text.ts'
import { makeCall } from './tools.ts'

export function makeTask(stage: Stage): ToolCall {
  const { random, pool } = stage
  return taskCall({
    description: title(random),
    prompt: `${title(random)}. ${pool.cut('prose', random.int(120, 600))}`,
    report: pool.cut('markdown', random.int(200, 2_000)),
    tokens: random.int(9_000, 60_000),
    ...(stage.plan.style === '1.0' ? {} : { agentId: `a${random.hex(7)}` }),
  })
}

type OpenTask = { readonly toolUseId: string; readonly call: ToolCall }

/** Inline lines, or the progress lines that echo them. */
export function runSidechain(stage: Stage, task: OpenTask): void {
  if (stage.plan.subagents === 'inline') inlineRun(stage, task)
  else if (stage.plan.progress) echo(stage, task)
}

function inlineRun(stage: Stage, task: OpenTask): void {
  const { random, scribe, plan, witness } = stage
  const agentId = agentIdOf(task.call) ?? `a${random.hex(7)}`
  witness?.opensSidechain(agentId, task.toolUseId)
  let parent = scribe.sidechainLine(
    userBody({ ...scribe.stamp(), style: plan.style, content: task.call.input.prompt }),
    { parent: null, agentId },
  )
  for (let round = random.int(1, 3); round > 0; round -= 1) {
    const id = `toolu_01${random.hex(22)}`
    const call = makeCall(stage.shop)
    parent = answerLine(stage, { parent, agentId, block: { type: 'tool_use', id, name: call.name, input: call.input } })
    const block = { tool_use_id: id, type: 'tool_result', content: call.content }
    const extra = resultsBranch(plan.style) ? { sourceToolAssistantUUID: parent } : {}
    const body = userBody({
      ...scribe.stamp(),
      style: plan.style,
      content: [block],
      extra: { toolUseResult: call.toolUseResult, ...extra },
    })
    parent = scribe.sidechainLine(body, { parent, agentId })
  }
  answerLine(stage, { parent, agentId, block: { type: 'text', text: reportOf(task.call) } })
}

type SidechainAnswer = { readonly parent: string; readonly agentId: string; readonly block: JsonObject }

function answerLine(stage: Stage, { parent, agentId, block }: SidechainAnswer): string {
  const { random, scribe, plan, witness } = stage
  const messageId = `msg_01${random.hex(22)}`
  const counts = {
    input: 4,
    cacheRead: random.int(8_000, 20_000),
    cacheWrite: random.int(50, 3_000),
    output: random.int(20, 900),
  }
  const usage = usageOf(plan.style, counts)
  const stopReason = block.type === 'tool_use' ? 'tool_use' : 'end_turn'
  const requestId = `req_011${random.hex(21)}`
  witness?.answered({ messageId, usage, lines: 1, sidechain: true })
  const ids = { ...scribe.stamp(), messageId, requestId }
  return scribe.sidechainLine(assistantBody({ ...plan, ...ids, block, stopReason, usage }), { parent, agentId })
}

/** From 2.1.12 to 2.1.50 progress lines repeat a sub-agent's messages. */
function echo(stage: Stage, task: OpenTask): void {
  const { scribe, identity } = stage
  const nested = { type: 'user', message: { role: 'user', content: task.call.input.prompt }, ...scribe.stamp() }
  const data = {
    message: nested,
    normalizedMessages: [],
    type: 'agent_progress',
    prompt: task.call.input.prompt,
    agentId: agentIdOf(task.call) ?? identity.slug,
  }
  const ids = { toolUseID: 'agent-progress', parentToolUseID: task.toolUseId }
  scribe.line(progressBody(scribe.stamp(), data, ids), { standing: 'dead-end' })
}

function agentIdOf(call: ToolCall): string | undefined {
  const raw = call.toolUseResult
  const id = typeof raw === 'object' && raw !== null && 'agentId' in raw ? raw.agentId : undefined
  return typeof id === 'string' ? id : undefined
}

function reportOf(call: ToolCall): string {
  const [first] = typeof call.content === 'string' ? [] : call.content
  return typeof first?.text === 'string' ? first.text : ''
}
