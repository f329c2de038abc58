// A compaction as the client writes it: boundary, summary, kept lines in one of four layouts, restored context.
import type { JsonObject } from '../../core/message/json.ts'
import { attachmentBody, boundaryBody, progressBody, userBody } from './bodies.ts'
import { fileRecord } from './calls.ts'
import type { Stage } from './stage.ts'
import { summaryText } from './summary.ts'
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
  const flags = { isVisibleInTranscriptOnly: true, isCompactSummary: true }
  const summary = scribe.frame(
    { parentUuid: boundaryStamp.uuid },
    userBody({ ...summaryStamp, style: plan.style, content: text, promptId: random.uuid(), flags }),
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

function compactMetadata(stage: Stage, facts: Facts): JsonObject {
  const { trigger, preTokens, postTokens, anchorUuid } = facts
  const uuids = facts.kept.map(uuidOf)
  const preserved =
    uuids.length === 0
      ? {}
      : {
          preservedSegment: { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) },
          // `allUuids` also names lines that were never written.
          preservedMessages: {
            anchorUuid,
            uuids,
            allUuids: [...uuids.slice(0, -1), stage.random.uuid(), ...uuids.slice(-1)],
          },
        }
  if (stage.plan.style !== '2.1-late') return { trigger, preTokens, ...preserved }
  const durationMs = stage.random.int(20_000, 150_000)
  return {
    trigger,
    preTokens,
    postTokens,
    cumulativeDroppedTokens: stage.progress.droppedTokens,
    durationMs,
    ...preserved,
  }
}

/** After the summary: the echo of a typed command, hooks, restored files. */
function putBack(stage: Stage, trigger: 'auto' | 'manual'): void {
  const { scribe, plan, random, project } = stage
  if (trigger === 'manual') commandEcho(stage)
  if (plan.style === '2.1-late') {
    for (let count = random.int(1, 3); count > 0; count -= 1) {
      const shown = project.some()
      const filename = shown.path
      const file = fileRecord(shown)
      const displayPath = filename.slice(project.cwd.length + 1)
      scribe.line(
        attachmentBody(scribe.stamp(), { type: 'file', filename, content: { type: 'text', file }, displayPath }),
      )
    }
    const [filename = ''] = project.paths(1)
    const displayPath = filename.slice(project.cwd.length + 1)
    scribe.line(attachmentBody(scribe.stamp(), { type: 'compact_file_reference', filename, displayPath }))
  } else if (plan.progress) {
    const data = {
      type: 'hook_progress',
      hookEvent: 'SessionStart',
      hookName: 'SessionStart:compact',
      command: 'scripts/greet.sh',
    }
    const toolUseID = random.uuid()
    scribe.line(progressBody({ ...scribe.stamp(), data, toolUseID, parentToolUseID: toolUseID }))
  }
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
