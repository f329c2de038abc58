// Generates whole sessions, turn by turn, with compactions as planned. Lazy: a session of any size needs the memory of
// one turn.
import type { JsonObject } from '../../core/message/json.ts'
import { finalAnswer, toolRound } from './answer.ts'
import { attachmentBody, promptExtra, systemBody, userBody } from './bodies.ts'
import { compact, hookProgress } from './compaction.ts'
import { planOf, type SessionOptions } from './options.ts'
import { type Stage, setStage } from './stage.ts'
import { resultsBranch } from './style.ts'
import { title } from './text.ts'
import { type Truth, Witness } from './truth.ts'

/** In file order. The same options give the same records. */
export function* generateSession(options: SessionOptions): Generator<JsonObject, void, undefined> {
  yield* play(options, undefined)
}

export type TruthfulSession = { readonly records: readonly JsonObject[]; readonly truth: Truth }

/** For small sessions. */
export function generateWithTruth(options: SessionOptions): TruthfulSession {
  const { records, truth } = streamWithTruth(options)
  return { records: [...records], truth: truth() }
}

export type TruthfulStream = {
  readonly records: Iterable<JsonObject>
  /** Call it after the last record. */
  readonly truth: () => Truth
}

/** For sessions of any size. */
export function streamWithTruth(options: SessionOptions): TruthfulStream {
  const witness = new Witness()
  return { records: play(options, witness), truth: () => witness.truth() }
}

function* play(options: SessionOptions, witness: Witness | undefined): Generator<JsonObject, void, undefined> {
  const stage = setStage(planOf(options), witness)
  open(stage)
  while (!stage.progress.isOver()) {
    turn(stage)
    yield* stage.scribe.drain()
  }
}

function open(stage: Stage): void {
  const { scribe, plan, random, pool } = stage
  stage.progress.title = title(random)
  if (plan.style === '1.0' || plan.style === '2.0') {
    scribe.side({ type: 'summary', summary: stage.progress.title, leafUuid: random.uuid() })
  }
  if (plan.style === '2.1-late') {
    hookSuccess(stage, 'SessionStart')
    const names = ['review', 'release', 'triage'] as const
    const content = names.map((skill) => `- ${skill}: ${pool.sentence()}`).join('\n')
    const listing = { type: 'skill_listing', content, skillCount: names.length, isInitial: true, names }
    scribe.line(attachmentBody(scribe.stamp(), listing))
  } else if (plan.progress) hookProgress(stage, 'SessionStart', 'SessionStart:startup')
}

function turn(stage: Stage): void {
  const { scribe, progress } = stage
  progress.turnPart = 0
  prompt(stage)
  const end = rounds(stage)
  const lastAnswer = scribe.mark()
  if (end === 'interrupted') interruption(stage)
  else finalAnswer(stage)
  if (end === 'compact-command') compact(stage, { trigger: 'manual', lastAnswer })
  closeTurn(stage)
}

/** Returns how the turn ends. */
function rounds(stage: Stage): 'answered' | 'interrupted' | 'compact-command' {
  const { random, plan, progress, scribe } = stage
  const count = random.int(1, 7)
  const isInterrupted = !progress.isDueThisTurn() && random.chance(plan.interrupted)
  for (let round = 1; round <= count && !(round > 1 && progress.isOver()); round += 1) {
    const lastAnswer = scribe.mark()
    const isStopped = isInterrupted && round === count
    progress.turnPart = (round - 0.05) / count
    toolRound(stage, { isInterrupted: isStopped, isTask: wantsTask(stage, round) })
    if (isStopped) return 'interrupted'
    afterRound(stage)
    progress.turnPart = round / count
    if (!progress.isDue()) continue
    if (random.chance(0.15)) return 'compact-command'
    compact(stage, { trigger: 'auto', lastAnswer })
  }
  return 'answered'
}

function interruption(stage: Stage): void {
  const { scribe, plan, progress } = stage
  const content = [{ type: 'text', text: '[Request interrupted by user for tool use]' }]
  scribe.line(userBody({ ...scribe.stamp(), style: plan.style, content, promptId: progress.promptId }))
}

/** A session with sub-agents has one in its first turn, later ones now and then. */
function wantsTask(stage: Stage, round: number): boolean {
  if (round > 1) return false
  if (stage.plan.subagents === 'inline') return stage.progress.turns === 0 || stage.random.chance(0.15)
  return stage.random.chance(0.05)
}

function prompt(stage: Stage): void {
  const { random, plan, scribe, pool, progress, meter } = stage
  progress.promptId = random.uuid()
  const own = plan.human[progress.turns % Math.max(1, plan.human.length)]
  const text = own ?? `${title(random)}. ${pool.cut('prose', random.int(40, 700))}`
  meter.heard(text.length)
  progress.prompt = text
  const stamp = scribe.stamp()
  if (plan.style !== '1.0') {
    const snapshot = { messageId: stamp.uuid, trackedFileBackups: {}, timestamp: stamp.timestamp }
    scribe.side({ type: 'file-history-snapshot', messageId: stamp.uuid, snapshot, isSnapshotUpdate: false })
  }
  if (plan.style !== '1.0' && random.chance(0.05)) {
    const { sessionId } = stage.identity
    scribe.side({ type: 'queue-operation', operation: 'enqueue', timestamp: stamp.timestamp, sessionId, content: text })
    scribe.side({ type: 'queue-operation', operation: 'dequeue', timestamp: stamp.timestamp, sessionId })
  }
  const content = plan.images && random.chance(0.3) ? [{ type: 'text', text }, image(stage)] : text
  const parts = { ...stamp, style: plan.style, content, promptId: progress.promptId, extra: promptExtra(plan.style) }
  scribe.line(userBody(parts))
}

function image({ pool, random }: Stage): JsonObject {
  const data = pool.png(random.int(2, 60) * 1024)
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
}

/** What clients add after a round: hooks, reminders, a microcompaction. */
function afterRound(stage: Stage): void {
  const { random, plan, scribe } = stage
  if (plan.style === '2.1-late') {
    if (random.chance(0.15)) hookSuccess(stage, 'PostToolUse')
    if (random.chance(0.12)) {
      const links = { blocks: [], blockedBy: [] }
      const task = { id: '1', subject: title(random), description: stage.pool.sentence(), status: 'pending', ...links }
      const content = [task]
      scribe.line(attachmentBody(scribe.stamp(), { type: 'task_reminder', content, itemCount: content.length }))
    }
    if (random.chance(0.02)) {
      const queued = { type: 'queued_command', prompt: stage.pool.sentence(), commandMode: 'prompt' }
      scribe.line(attachmentBody(scribe.stamp(), queued))
    }
  } else if (plan.progress && random.chance(0.3)) hookProgress(stage, 'PostToolUse', 'PostToolUse:Edit')
  if (plan.microcompact && stage.recentCalls.length >= 3) microcompact(stage)
}

function microcompact(stage: Stage): void {
  const { scribe, meter, random, recentCalls, witness } = stage
  if (!random.chance(0.2)) return
  const compactedToolIds = recentCalls.splice(0, recentCalls.length - 1)
  const tokensSaved = Math.min(Math.round(meter.total * 0.2), 20_000)
  const ids = { compactedToolIds, clearedAttachmentUUIDs: [] }
  const microcompactMetadata = { trigger: 'auto', preTokens: meter.total, tokensSaved, ...ids }
  const { uuid, timestamp } = scribe.stamp()
  const start = { type: 'system', subtype: 'microcompact_boundary', content: 'Context microcompacted', isMeta: false }
  scribe.line({ ...start, timestamp, uuid, level: 'info', microcompactMetadata })
  meter.cleared(tokensSaved)
  witness?.microcompacted({ uuid, compactedToolIds })
}

function hookSuccess(stage: Stage, hookEvent: string): void {
  const { scribe, random } = stage
  const command = 'scripts/greet.sh'
  const names = { type: 'hook_success', hookName: `${hookEvent}:Edit`, toolUseID: random.uuid(), hookEvent }
  const run = { content: '', stdout: '', stderr: '', exitCode: 0, command, durationMs: random.int(4, 400) }
  scribe.line(attachmentBody(scribe.stamp(), { ...names, ...run }))
}

function closeTurn(stage: Stage): void {
  const { scribe, plan, progress, random, identity } = stage
  if (resultsBranch(plan.style)) {
    const durationMs = random.int(2_000, 400_000)
    const count = plan.style === '2.1-late' ? { messageCount: random.int(3, 60) } : {}
    scribe.line(systemBody(scribe.stamp(), 'turn_duration', { durationMs, ...count }))
  }
  if (plan.style === '2.1-late') {
    const { sessionId } = identity
    scribe.side({ type: 'last-prompt', lastPrompt: progress.prompt, leafUuid: scribe.tip, sessionId })
    scribe.side({ type: 'ai-title', aiTitle: progress.title, sessionId })
    scribe.side({ type: 'mode', mode: 'normal', sessionId })
    scribe.side({ type: 'permission-mode', permissionMode: 'acceptEdits', sessionId })
  }
  progress.turns += 1
  progress.turnPart = 0
}
