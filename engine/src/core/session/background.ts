// A compaction prepared while work goes on: made against a fixed cut, and swapped in between two requests only if what it
// summarised is still the same. What came meanwhile is kept word for word.

import { type CompactionDone, type CompactionNotDone, compactNow } from '../ladder/compaction.ts'
import { guardAutoCompact } from '../ladder/guards.ts'
import { isObject, type JsonObject, stringsAt } from '../message/json.ts'
import { errorText } from '../ports/guarded.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import { createStop } from '../ports/stop.ts'
import type { View } from '../transcript/view/fold.ts'
import { type Desk, overheadOf, situationIn } from './desk.ts'
import { compactionMode, headStart } from './settings.ts'

export type Ahead = {
  /** Whether the next request should wait for it: it is ready, or came to nothing. */
  readonly isReady: () => boolean
  /** Swaps it in, if what it summarised is still the same. */
  readonly swap: () => Promise<CompactionDone | CompactionNotDone>
  /** Another came first, or nobody needs it any more. */
  readonly drop: (why: string) => Promise<void>
}

/** Begins one when the setting and the size say so. It is not waited for. */
export function startAhead(desk: Desk, signal: AbortSignalPort): Ahead | undefined {
  if (!isWanted(desk)) return undefined
  const source = sourceOf(desk.conversation.view())
  const state: { finished?: readonly JsonObject[]; open?: (verdict: readonly JsonObject[] | string) => void } = {}
  let dropped: string | undefined
  let isOver = false
  const stop = createStop()
  signal.addEventListener('abort', stop.stop, { once: true })
  const wish = { stage: 'over-threshold', trigger: 'auto', cause: 'background', signal: stop.signal } as const
  const outcome = compactNow(desk, wish, async (records) => {
    if (dropped !== undefined) return dropped
    return new Promise((resolve) => {
      state.finished = records
      state.open = resolve
    })
  })
    .catch(notWritten)
    .finally(() => {
      isOver = true
      signal.removeEventListener('abort', stop.stop)
    })
  return {
    isReady: () => isOver || state.open !== undefined,
    swap: () => {
      const kept = keptSince(source, sourceOf(desk.conversation.view()))
      state.open?.(kept ? withKept(state.finished ?? [], kept, desk) : 'What it summarised has changed meanwhile.')
      return outcome
    },
    drop: async (why) => {
      dropped = why
      state.open?.(why)
      // A model that is still at work on it is not waited for.
      stop.stop()
      await outcome
    },
  }
}

/** Nobody may be waiting for it when it cannot be written. */
function notWritten(error: unknown): CompactionNotDone {
  return { type: 'not-compacted', reason: 'write_failed', detail: errorText(error), tried: [] }
}

/** The same guards as for any other, as if the threshold were reached already. */
function isWanted(desk: Desk): boolean {
  const from = headStart(desk.settings)
  if (from === undefined) return false
  const { explanation } = situationIn(desk, desk.conversation.view())
  const { size, autoCompactThreshold: threshold, autoCompact } = explanation
  if (size.tokens < threshold.value * from || autoCompact.mode !== true) return false
  const guarded = guardAutoCompact({
    source: 'turn',
    explanation: { ...explanation, isAboveThreshold: true },
    mode: compactionMode(desk.settings),
    tracking: desk.tracking,
    overhead: overheadOf(desk),
  })
  return guarded.type === 'allowed'
}

/** The entries of a view, and the edits that shaped them. */
type Source = { readonly uuids: readonly string[]; readonly edits: readonly string[] }

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
function withKept(records: readonly JsonObject[], uuids: readonly string[], desk: Desk): readonly JsonObject[] {
  if (uuids.length === 0) return records
  const { tip } = desk.conversation.place()
  const anchor = records.find(({ isCompactSummary }) => isCompactSummary === true)?.uuid
  return records.map((record) =>
    record.subtype === 'compact_boundary'
      ? { ...record, logicalParentUuid: tip, ...keptIn(record, uuids, anchor) }
      : record,
  )
}

function keptIn({ compactMetadata }: JsonObject, uuids: readonly string[], anchorUuid: unknown): JsonObject {
  const data = isObject(compactMetadata) ? compactMetadata : {}
  const all = [...stringsAt(data.preservedMessages, 'uuids'), ...uuids]
  const preservedSegment = { headUuid: all[0], anchorUuid, tailUuid: all.at(-1) }
  return {
    compactMetadata: { ...data, preservedSegment, preservedMessages: { anchorUuid, uuids: all, allUuids: all } },
  }
}
