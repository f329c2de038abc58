// A compaction prepared while work goes on: made against a fixed cut, and swapped in between two requests only if what it
// summarised is still the same. What came meanwhile is kept word for word.
import { isObject, type JsonObject } from '../message/json.ts'
import type { View } from '../transcript/fold.ts'
import { type Climbed, climb, type Solution } from './climb.ts'
import { type Compacted, type CompactionWish, conclude, contextFor, judgeFor } from './compaction.ts'
import { type Desk, overheadOf, situationIn, sizeOf } from './desk.ts'
import { guardAutoCompact } from './guards.ts'
import type { RungContext, Tried } from './rung.ts'
import { headStart } from './settings.ts'

/** Under way, or ready to be swapped in. */
export type Ahead = {
  readonly context: RungContext
  readonly started: number
  /** The entries it summarises, and the edits that shaped them. */
  readonly source: Source
  readonly promise: Promise<void>
  climbed?: Climbed
}

type Source = { readonly uuids: readonly string[]; readonly edits: readonly string[] }

const wish: CompactionWish = { stage: 'over-threshold', trigger: 'auto', cause: 'background' }

/** Begins one when the setting and the size say so. It is not waited for. */
export function startAhead(desk: Desk, signal: CompactionWish['signal']): Ahead | undefined {
  const from = headStart(desk.settings)
  if (from === undefined) return undefined
  const view = desk.conversation.view()
  const { explanation } = situationIn(desk, view)
  const { size, autoCompactThreshold: threshold } = explanation
  if (size.tokens < threshold.value * from || explanation.autoCompact.mode !== true) return undefined
  // The same guards, as if the threshold were reached already.
  const guarded = guardAutoCompact({
    source: 'turn',
    explanation: { ...explanation, isAboveThreshold: true },
    mode: desk.settings.mode ?? 'proactive',
    tracking: desk.tracking,
    overhead: overheadOf(desk),
  })
  if (guarded.type === 'refused') return undefined
  const context = contextFor(desk, { ...wish, signal }, view)
  desk.emit({ type: 'compaction-started', trigger: 'auto', tokens: size.tokens })
  const ahead: { -readonly [K in keyof Ahead]: Ahead[K] } = {
    context,
    started: desk.ports.now(),
    source: sourceOf(view),
    promise: Promise.resolve(),
  }
  ahead.promise = climb(desk.ladder['over-threshold'], context, () => undefined).then((climbed) => {
    ahead.climbed = climbed
  })
  return ahead
}

export type Swapped = { readonly tried: readonly Tried[]; readonly compaction?: Compacted }

/** Swaps a finished one in, if it still fits. */
export async function swapAhead(desk: Desk, { context, started, source, climbed }: Ahead): Promise<Swapped> {
  if (!climbed) return { tried: [] }
  const kept = keptSince(source, sourceOf(desk.conversation.view()))
  if (!kept) {
    const why = 'What it summarised has changed meanwhile.'
    desk.emit({ type: 'mechanism-tried', mechanism: 'background', outcome: 'failed', why })
    return { tried: [{ rung: 'background', outcome: 'failed', why }] }
  }
  const solution = climbed.solution && withKept(climbed.solution, kept, desk)
  const before = sizeOf(desk, desk.conversation.view())
  const problem = solution && judgeFor(desk, { wish, context, before })(solution)
  const tried: readonly Tried[] =
    problem === undefined
      ? climbed.tried
      : [...climbed.tried, { rung: 'background', outcome: 'failed', why: problem }]
  const final: Climbed = solution && problem === undefined ? { ...climbed, solution } : { tried, reason: 'no_progress' }
  const outcome = await conclude(desk, wish, { climbed: final, context, started })
  return outcome.type === 'compacted' ? { tried: outcome.tried, compaction: outcome } : { tried: outcome.tried }
}

function sourceOf({ sources }: View): Source {
  return {
    uuids: sources.flatMap(({ uuids }) => uuids),
    edits: [...new Set(sources.flatMap(({ edits }) => edits))],
  }
}

/** What came behind the source; undefined when the source itself is no longer what it was. */
function keptSince(source: Source, now: Source): readonly string[] | undefined {
  const isSame = source.uuids.every((uuid, at) => now.uuids[at] === uuid)
  return isSame && source.edits.join() === now.edits.join() ? now.uuids.slice(source.uuids.length) : undefined
}

/** The same records, with what came meanwhile among the kept messages. */
function withKept(solution: Solution, uuids: readonly string[], desk: Desk): Solution {
  if (solution.type !== 'compacted' || uuids.length === 0) return solution
  const summary = solution.records.findLast(({ isCompactSummary }) => isCompactSummary === true)
  const anchor = String(summary?.uuid)
  const { tip } = desk.conversation.place()
  const records = solution.records.map((record) =>
    record.subtype === 'compact_boundary' ? { ...record, logicalParentUuid: tip, ...keptIn(record, anchor, uuids) } : record,
  )
  return { ...solution, records }
}

function keptIn(boundary: JsonObject, anchor: string, uuids: readonly string[]): JsonObject {
  const data = isObject(boundary.compactMetadata) ? boundary.compactMetadata : {}
  const listed = isObject(data.preservedMessages) && Array.isArray(data.preservedMessages.uuids)
  const before = listed ? (data.preservedMessages as { readonly uuids: readonly string[] }).uuids : []
  const all = [...before, ...uuids]
  const preservedMessages = { anchorUuid: anchor, uuids: all, allUuids: all }
  return { compactMetadata: { ...data, preservedMessages } }
}
