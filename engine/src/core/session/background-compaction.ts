// A compaction prepared while work goes on. It summarizes the view as it was at the start, and is applied between two
// requests if that part has not changed. What was added meanwhile is kept verbatim.

import { type JsonObject, objectAt, stringsAt } from '../message/json.ts'
import { createStop, errorText } from '../ports/guarded.ts'
import { type Compacted, type Failed, failed } from '../ports/outcome.ts'
import type { View } from '../transcript/view/fold.ts'
import { compactNow, type Gate } from './compact.ts'
import { whyNotCompact } from './may-compact.ts'
import type { Runtime } from './runtime.ts'

export type BackgroundCompaction = {
  /** Whether it is finished or has failed. */
  readonly isReady: () => boolean
  /** Writes it, if what it summarized is still the same. */
  readonly apply: () => Promise<Compacted | Failed>
  readonly cancel: (why: string) => Promise<void>
}

/** Starts one if the settings and the size call for it. */
export function startInBackground(runtime: Runtime): BackgroundCompaction | undefined {
  if (!isDue(runtime)) return undefined
  const { conversation } = runtime
  const { signal } = runtime.closing
  const source = conversation.view()
  let finished: { readonly records: readonly JsonObject[]; readonly write: (verdict: Verdict) => void } | undefined
  let cancelled: Failed | undefined
  let isOver = false
  const stop = createStop()
  signal.addEventListener('abort', stop.stop, { once: true })
  const gate: Gate = async (records) =>
    cancelled ??
    new Promise((write) => {
      finished = { records, write }
    })
  const outcome = compactNow(runtime, { cause: 'background', signal: stop.signal, gate })
    // Nobody may be waiting when it cannot be written.
    .catch((error: unknown) => failed('write-failed', errorText(error)))
    .finally(() => {
      isOver = true
      signal.removeEventListener('abort', stop.stop)
    })
  return {
    isReady: () => isOver || finished !== undefined,
    apply: () => {
      const added = addedSince(source, conversation.view())
      const { tip } = conversation.place()
      const changed = failed('aborted', 'What it summarized has changed meanwhile.')
      finished?.write(added ? withKept(finished.records, added, tip) : changed)
      return outcome
    },
    cancel: async (why) => {
      cancelled = failed('aborted', why)
      finished?.write(cancelled)
      // Do not wait for a model that is still writing.
      stop.stop()
      await outcome
    },
  }
}

type Verdict = Awaited<ReturnType<Gate>>

/** The share of the threshold with `background: true`. A summary is usually written before the last fifth is used. */
const defaultHeadStart = 0.8

/** The same guards as for any automatic compaction, as if the threshold were reached already. */
function isDue(runtime: Runtime): boolean {
  const { background } = runtime.settings
  if (background === false) return false
  const from = background === true ? defaultHeadStart : background.from
  const explanation = runtime.gauge.explanation()
  const { size, autoCompactThreshold: threshold, autoCompact } = explanation
  if (size.tokens < threshold.value * from || autoCompact.mode !== true) return false
  return !whyNotCompact(runtime, { ...explanation, isAboveThreshold: true }, { source: 'turn', pays: false })
}

/** The entries that were added to a view; undefined when what was there has changed. */
export function addedSince(before: View, now: View): readonly string[] | undefined {
  const uuidsOf = ({ sources }: View) => sources.flatMap(({ uuids }) => uuids)
  const editsOf = ({ sources }: View) => [...new Set(sources.flatMap(({ edits }) => edits))].join()
  const [old, all] = [uuidsOf(before), uuidsOf(now)]
  const isSame = old.every((uuid, at) => all[at] === uuid) && editsOf(before) === editsOf(now)
  return isSame ? all.slice(old.length) : undefined
}

/** The same records, with what was added meanwhile among the kept messages. */
function withKept(records: readonly JsonObject[], added: readonly string[], tip: string | null): readonly JsonObject[] {
  if (added.length === 0) return records
  const anchorUuid = records.find(({ isCompactSummary }) => isCompactSummary === true)?.uuid
  return records.map((record) => {
    if (record.subtype !== 'compact_boundary') return record
    const data = objectAt(record, 'compactMetadata')
    const uuids = [...stringsAt(data?.preservedMessages, 'uuids'), ...added]
    const preservedSegment = { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) }
    const preservedMessages = { anchorUuid, uuids, allUuids: uuids }
    return {
      ...record,
      logicalParentUuid: tip,
      compactMetadata: { ...data, preservedSegment, preservedMessages },
    }
  })
}
