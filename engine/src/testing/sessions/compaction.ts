// A compaction as the client writes it: boundary, summary, kept lines in one of four layouts, restored context.
import type { JsonObject } from '../../core/message/json.ts'
import { attachmentBody, boundaryBody, preservedFields, progressBody, summaryFlags, userBody } from './bodies.ts'
import { fileRecord } from './calls.ts'
import type { Stage } from './stage.ts'
import { title } from './text.ts'
import { type BoundaryTruth, uuidOf } from './truth.ts'

export type CompactionOptions = {
  readonly trigger: 'auto' | 'manual'
  /** The start of the last answer, which is kept with its results. */
  readonly lastAnswer: number
}

export function compact(stage: Stage, options: CompactionOptions): void {
  const { scribe, plan, meter, progress, random, witness } = stage
  const recent = scribe.since(options.lastAnswer)
  const kept = plan.kept === 'none' ? [] : recent.filter(isKeepable)
  const text = summaryText(stage)
  const tokens = meter.compacted(text.length + Math.min(JSON.stringify(kept).length, 20_000))
  const [boundaryStamp, summaryStamp] = [scribe.stamp(), scribe.stamp()]
  const logicalParent = logicalParentOf(stage, kept)
  progress.droppedTokens += tokens.preTokens - tokens.postTokens
  const metadata = compactMetadata(stage, { trigger: options.trigger, ...tokens, kept, anchorUuid: summaryStamp.uuid })
  const boundary = scribe.frame(
    { parentUuid: null, logicalParentUuid: logicalParent.uuid },
    boundaryBody({ ...boundaryStamp, style: plan.style, compactMetadata: metadata }),
  )
  const summary = scribe.frame(
    { parentUuid: boundaryStamp.uuid },
    userBody({ ...summaryStamp, style: plan.style, content: text, promptId: random.uuid(), flags: summaryFlags }),
  )
  const isAfter = plan.kept === 'after' && kept.length > 0
  const moved = isAfter ? recent.map((record) => rehang(record, uuidOf(kept[0] ?? {}), summaryStamp.uuid)) : []
  if (isAfter) scribe.rewriteSince(options.lastAnswer, [boundary, summary, ...moved])
  else scribe.rewriteSince(scribe.mark(), [boundary, summary])
  const tail = uuidOf(kept.at(-1) ?? summary)
  scribe.tip = plan.kept === 'none' || plan.kept === 'before' ? summaryStamp.uuid : tail
  const keptNow = isAfter ? moved.filter((record) => kept.some((one) => uuidOf(one) === uuidOf(record))) : kept
  const truth: BoundaryTruth = {
    uuid: boundaryStamp.uuid,
    summaryUuid: summaryStamp.uuid,
    trigger: options.trigger,
    ...tokens,
    kept: kept.map(uuidOf),
    logicalParentUuid: logicalParent.uuid,
    logicalParentIsWritten: logicalParent.isWritten,
  }
  const movedEntries = moved.filter((record) => record.uuid !== undefined && record.isSidechain === false).length
  witness?.compacted({ boundary: truth, records: [boundary, summary, ...keptNow], movedEntries })
  progress.passedBoundary()
  stage.recentCalls.length = 0
  putBack(stage, options.trigger)
}

function isKeepable(record: JsonObject): boolean {
  const isMessage = record.type === 'user' || record.type === 'assistant' || record.type === 'attachment'
  return isMessage && record.isSidechain === false
}

function rehang(record: JsonObject, head: string, parentUuid: string): JsonObject {
  return record.uuid === head ? { ...record, parentUuid } : record
}

/** The last kept line; else the line before, which clients since 2.1.20 often did not write. */
function logicalParentOf(stage: Stage, kept: readonly JsonObject[]) {
  const tail = kept.at(-1)
  if (tail) return { uuid: uuidOf(tail), isWritten: true }
  if (stage.plan.style === '2.1-early' && stage.random.chance(0.5))
    return { uuid: stage.random.uuid(), isWritten: false }
  return { uuid: stage.scribe.tip ?? stage.random.uuid(), isWritten: stage.scribe.tip !== null }
}

type Facts = {
  readonly trigger: 'auto' | 'manual'
  readonly preTokens: number
  readonly postTokens: number
  readonly kept: readonly JsonObject[]
  readonly anchorUuid: string
}

function compactMetadata({ random, plan, progress }: Stage, facts: Facts): JsonObject {
  const { trigger, preTokens, postTokens, anchorUuid } = facts
  const uuids = facts.kept.map(uuidOf)
  // `allUuids` also names lines that were never written.
  const all = () => [...uuids.slice(0, -1), random.uuid(), ...uuids.slice(-1)]
  const preserved = uuids.length === 0 ? {} : preservedFields(uuids, anchorUuid, all())
  if (plan.style !== '2.1-late') return { trigger, preTokens, ...preserved }
  const dropped = { cumulativeDroppedTokens: progress.droppedTokens, durationMs: random.int(20_000, 150_000) }
  return { trigger, preTokens, postTokens, ...dropped, ...preserved }
}

/** After the summary: the echo of a typed command, hooks, restored files. */
function putBack(stage: Stage, trigger: 'auto' | 'manual'): void {
  const { scribe, plan, random, project } = stage
  if (trigger === 'manual') commandEcho(stage)
  const attach = (type: string, filename: string, content: JsonObject = {}) => {
    const displayPath = filename.slice(project.cwd.length + 1)
    scribe.line(attachmentBody(scribe.stamp(), { type, filename, ...content, displayPath }))
  }
  if (plan.style === '2.1-late') {
    for (let count = random.int(1, 3); count > 0; count -= 1) {
      const shown = project.some()
      attach('file', shown.path, { content: { type: 'text', file: fileRecord(shown) } })
    }
    attach('compact_file_reference', project.paths(1)[0] ?? '')
  } else if (plan.progress) hookProgress(stage, 'SessionStart', 'SessionStart:compact')
}

export function hookProgress(stage: Stage, hookEvent: string, hookName: string): void {
  const { scribe, random } = stage
  const data = { type: 'hook_progress', hookEvent, hookName, command: 'scripts/greet.sh' }
  const toolUseID = random.uuid()
  scribe.line(progressBody(scribe.stamp(), data, { toolUseID, parentToolUseID: toolUseID }))
}

/** The echo of a typed /compact has timestamps from before the summary. */
function commandEcho(stage: Stage): void {
  const { scribe, plan, progress } = stage
  const say = (content: string, seconds: number, flags: JsonObject = {}) => {
    const stamp = { uuid: scribe.stamp().uuid, timestamp: scribe.earlier(seconds) }
    scribe.line(userBody({ ...stamp, style: plan.style, content, promptId: progress.promptId, flags }))
  }
  const caveat = 'The lines below were made by a local command, not typed as a request.'
  say(`<local-command-caveat>${caveat}</local-command-caveat>`, 90, { isMeta: true })
  say(
    '<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args></command-args>',
    89,
  )
  say('<local-command-stdout>Compacted</local-command-stdout>', 30)
}

const sections = [
  'What was asked and why',
  'Technical ideas in play',
  'Files and code touched',
  'Errors met and their fixes',
  'Problems solved and open',
  'Everything the human said',
  'Tasks still to do',
  'Work in hand',
  'Next step, if any',
] as const

/** The made-up summary. */
function summaryText(stage: Stage): string {
  const { random, pool, project, plan, identity } = stage
  const usual = plan.targetBytes === undefined ? 300 : Math.min(1_100, Math.max(100, Math.floor(plan.largest / 10)))
  const body = (heading: string, index: number) => {
    const text = pool.cut(index === 2 ? 'markdown' : 'prose', Math.round(usual * (0.5 + random.next())))
    const paths = index === 2 ? project.paths(3) : []
    const files = paths.map((path) => `- ${path}: ${title(random)}\n`).join('')
    return `${index + 1}. ${heading}:\n${files}${text}`
  }
  const opening = 'This conversation goes on from an earlier one that filled its window. What came before, in short:'
  const closing = `The whole of it can be read at: /home/dev/.claude/projects/${identity.slug}/${identity.sessionId}.jsonl\nGo on from where it stopped, without asking again.`
  return `${opening}\n\nSummary:\n${sections.map(body).join('\n\n')}\n\n${closing}`
}
