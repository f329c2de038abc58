// The two mechanisms that summarize: from the notes of session memory, and with a model or without one. Loaded with the
// first compaction (mechanisms.ts).

import type { PartialChoice } from '../compaction/job.ts'
import { planCompaction } from '../compaction/plan.ts'
import { makeCompaction } from '../compaction/run.ts'
import { unseenResults } from '../mechanisms/clearable.ts'
import type { MechanismContext } from '../mechanisms/mechanism.ts'
import { type MemoryDecline, type MemoryPlan, planFromMemory } from '../memory/plan.ts'
import { cutAfter, legalCuts } from '../message/cut-points.ts'
import { type Declined, declined, type Outcome } from '../ports/outcome.ts'
import type { EngineSettings } from '../settings/table.ts'
import { createTextCounter, withMargin } from '../tokens/estimate/counting.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Memory, MemoryKeeper } from './memory-keeper.ts'

// Only compactions need these. Exported here, so that bundlers put all of it into one file.
export { stageCollapse } from '../collapse/stage.ts'
export { isRuleFile, rulePlaces } from '../restore/from-disk.ts'
export { restoreContext } from '../restore/restore.ts'
export { touchedFiles } from '../restore/touched.ts'

type Keep = EngineSettings['keep']

/** Summarizes the whole conversation or the named part. `keep`: the newest messages that stay verbatim. */
export async function summarize(context: MechanismContext, keep?: Keep): Promise<Outcome> {
  const { ports, signal, range, view } = context
  // The unseen results come last, so a range without an end includes them.
  const isThere = view.sources.some(({ uuids }) => uuids.includes(range.from ?? ''))
  if (isThere && unseenResults(view) !== undefined) return declined('results-unseen', notYetSeen)
  return makeCompaction({ ...context, partial: partialOf(context, keep) }, ports, signal)
}

const notYetSeen =
  'The model has not seen the newest tool results yet, and they would be summarized: send the request first, or compact up to a message instead.'

/** Everything before the first message that has to stay: because of the person, the settings, or because the model has not seen it. */
function partialOf(context: MechanismContext, keep: Keep): PartialChoice | undefined {
  const { view, range } = context
  if (range.from !== undefined) return { type: 'from', uuid: range.from }
  const { upTo } = range
  const unseen = unseenResults(view)
  const starts = [
    upTo === undefined ? undefined : { at: view.sources.findIndex(({ uuids }) => uuids.includes(upTo)), uuid: upTo },
    startAt(view, firstKept(context, keep)),
    // Includes the answer that made the calls.
    startAt(view, unseen === undefined ? undefined : unseen - 1),
  ]
  const [first] = starts.filter((start) => start !== undefined).toSorted((one, other) => one.at - other.at)
  return first && { type: 'up-to', uuid: first.uuid }
}

function startAt({ sources }: View, at = -1) {
  const uuid = sources[at]?.uuids[0]
  return uuid === undefined ? undefined : { at, uuid }
}

/** The share of the target, or of the size if that is smaller, that may stay verbatim after an overflow. */
const keptInRecovery = 0.25
/** The same share for the setting `keep`, and of the room besides the system prompt and the tools. The rest is for the summary. */
const maxKept = 0.5

/** Index of the first kept message. In a manual compaction the person decides what to keep. */
function firstKept(context: MechanismContext, keep: Keep): number | undefined {
  const { target, size, trigger, reason, overhead = 0 } = context
  const max = Math.min(target, size)
  const roomBesides = Math.max(0, max - overhead) * maxKept
  if (reason === 'overflow') return newestMessages(context, Math.min(max * keptInRecovery, roomBesides))
  if (keep === undefined || keep === 0 || trigger !== 'auto') return undefined
  return typeof keep === 'number'
    ? newestMessages(context, roomBesides, keep)
    : newestMessages(context, Math.min(keep.tokens, roomBesides))
}

/** The newest messages that fit into `room` tokens. None if even the newest round is too large. */
function newestMessages({ view, situation }: MechanismContext, room: number, max?: number): number | undefined {
  const { messages } = view
  const first = max === undefined ? 1 : Math.max(1, messages.length - max)
  let weight = 0
  let start = messages.length
  for (const message of messages.slice(first).toReversed()) {
    weight += situation.weigher.message(message)
    if (weight > room) break
    start--
  }
  const cut = cutAfter(legalCuts(messages, { before: 'user-message' }), { index: start, length: messages.length })
  return cut === 0 ? undefined : cut
}

const memoryName = 'session-memory'

/**
 * Compaction from the notes of session memory, tried first because it needs no model. The notes are the summary; checks, the
 * user's words, state and restoring are the same as in every other compaction.
 */
export async function summarizeFromNotes(context: MechanismContext, memory: Memory): Promise<Outcome> {
  const { ports, signal } = context
  const keeper = 'store' in memory ? memory : undefined
  const given = keeper ? await fromNotes(keeper, context) : (memory as Declined<MemoryDecline>)
  keeper?.noteDeclined(given.type === 'declined' ? given : undefined)
  if (given.type === 'declined') {
    ports.emit({ type: 'memory-declined', reason: given.reason })
    return given
  }
  const result = await makeCompaction(given.job, ports, signal)
  // The list records a success under the same name.
  return result.type === 'compacted' ? { ...result, tried: [] } : result
}

async function fromNotes(keeper: MemoryKeeper, context: MechanismContext) {
  const { instructions, range, view, ports, counting, reason } = context
  if (!keeper.settings.isOn) return declined('turned-off', 'Session memory is turned off.')
  if (reason === 'overflow') return declined('overflow', 'A prompt that was too long is summarized whole.')
  if (ports.summaryPrompt || instructions.trim() !== '' || range.from !== undefined || range.upTo !== undefined) {
    return declined('instructions-given', 'The notes were taken without what is asked for now.')
  }
  if ((await keeper.store.settled()) === 'still-running') {
    return declined('extraction-running', 'An extraction is still running after 15 seconds.')
  }
  const notes = planNotes(keeper, context)
  if (notes.type === 'declined') return notes
  const uuid = view.sources[notes.keepFrom]?.uuids[0]
  if (uuid === undefined) return declined('nothing-to-summarize', 'What would be kept has no entry in the transcript.')
  const given = { text: notes.summary, mechanism: memoryName, why: 'the notes of the session are the summary' }
  const job = { ...context, partial: { type: 'up-to', uuid }, given } as const
  // Checked before hooks run. If this declines, the next mechanism runs them.
  const plan = planCompaction(job, ports.model)
  if (plan.type === 'failed') return declined('nothing-to-summarize', plan.why)
  const { kept, limit } = plan.tokens
  const needed = kept + createTextCounter(counting)(notes.summary)
  if (needed <= limit) return { type: 'planned', job } as const
  const why = `Notes and kept messages have ${formatNumber(needed)} tokens, and ${formatNumber(limit)} are allowed.`
  return declined('over-target', why)
}

function planNotes(keeper: MemoryKeeper, context: MechanismContext): MemoryPlan {
  const { view, situation, overhead = 0, counting, threshold } = context
  const places = new Map(view.sources.flatMap(({ uuids }, at) => uuids.map((uuid) => [uuid, at] as const)))
  return planFromMemory({
    messages: view.messages,
    notes: keeper.store.notes(),
    path: keeper.store.path,
    lastSeen: keeper.progress().lastSeen,
    indexOf: (uuid) => places.get(uuid) ?? -1,
    isResumed: keeper.isResumed(),
    threshold,
    countTokens: createTextCounter(counting),
    weigh: situation.weigher.message,
    overhead,
    keep: keeper.settings.keep,
    measure: withMargin,
  })
}
