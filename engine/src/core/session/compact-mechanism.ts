// Compaction as a mechanism of the ladder: of the whole conversation, or of the part that was named, or from the notes of
// session memory. session/compaction.ts measures the result and emits the events.
import { modelFacts } from '../catalog/models.ts'
import type { CompactionJob, CompactionResult, PartialChoice } from '../compaction/job.ts'
import { planCompaction } from '../compaction/plan.ts'
import { performCompaction } from '../compaction/run.ts'
import { unseenResults } from '../mechanisms/clearable.ts'
import type { MechanismContext, MechanismResult, RunningMechanism } from '../mechanisms/mechanism.ts'
import { type MemoryPlan, planFromMemory } from '../memory/plan.ts'
import { cutAfter, legalCuts } from '../message/cut-points.ts'
import { defined } from '../message/json.ts'
import type { ModelRequest } from '../ports/model.ts'
import type { Restore } from '../ports/restore.ts'
import type { CompactionSettings } from '../settings/resolve.ts'
import { createTextCounter, withMargin } from '../tokens/estimate/counting.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Memory, MemoryDeclined, MemoryKeeper } from './memory-keeper.ts'

export type CompactMechanismOptions = {
  readonly settings?: Partial<CompactionSettings>
  /** Replaces what the session restores by itself. */
  readonly restore?: Restore | undefined
  /** The agent has the recall tool. */
  readonly recall?: boolean
  /** The agent works alone: after a compaction it goes on without waiting for a person. */
  readonly isAutonomous?: boolean
  /** The newest messages that an automatic compaction keeps verbatim, by number or by tokens. */
  readonly keep?: Keep | undefined
}

export type Keep = number | { readonly tokens: number }

export function compactMechanism(options: CompactMechanismOptions = {}): RunningMechanism {
  return {
    name: 'compact',
    run: async (context) => {
      const { ports, signal, range, view } = context
      // The unseen results come last, so a range without an end includes them.
      const isThere = view.sources.some(({ uuids }) => uuids.includes(range.from ?? ''))
      if (isThere && unseenResults(view) !== undefined) return { type: 'declined', why: notYetSeen }
      const conversation = context.request()
      const job = jobFor(context, options)
      const settings = { ...job.settings, shareCache: mayShareCache(context, { conversation, options }) }
      return mechanismResult(await performCompaction({ ...job, settings, conversation }, ports, signal))
    },
  }
}

const notYetSeen =
  'The model has not seen the newest tool results yet, and they would be summarized: send the request first, or compact up to a message instead.'

function mechanismResult(result: CompactionResult): MechanismResult {
  const { tried, notices, usage, cost, attempts, hitRate } = result
  const spent = { usage, cost, attempts, hitRate }
  if (result.type === 'failed') return { type: 'failed', reason: result.reason, why: result.detail, tried, spent }
  const { mechanism, restored } = result
  return { type: 'compacted', mechanism, ...spent, restored: restored.pieces.length, tried, notices }
}

function jobFor(context: MechanismContext, options: CompactMechanismOptions): CompactionJob {
  const { trigger, view, instructions, counting, overhead, target, queued, turnId, commit, place, situation } = context
  const { autoCompactThreshold, contextWindow } = situation.explanation
  const { settings = {}, isAutonomous, recall } = options
  return {
    trigger,
    reason: context.cause,
    view,
    recordOf: context.record,
    instructions,
    partial: partialOf(context, options.keep),
    settings,
    counting,
    viewTokens: situation.weigher.tokens(view.messages, counting),
    overhead,
    size: context.size.tokens,
    scale: context.scale(),
    threshold: autoCompactThreshold.value,
    sessionWindow: contextWindow.value,
    target,
    queued,
    restore: options.restore ?? context.restore,
    ...defined({ isAutonomous, recall }),
    transcriptPath: place.transcript,
    turnId,
    sessionId: place.sessionId,
    lastUuid: place.tip ?? undefined,
    envelope: place.envelope,
    commit,
  }
}

/** Tokens for the instruction to summarize. */
const instructionRoom = 3_000

/** Cache sharing sends the whole request again with the instruction at its end, which has to fit the window. */
function mayShareCache(
  { size, situation }: MechanismContext,
  { conversation, options }: { readonly conversation: ModelRequest; readonly options: CompactMechanismOptions },
): boolean {
  if (options.settings?.shareCache === false) return false
  const { model, maxTokens = 0 } = conversation
  const output = modelFacts(model)?.endsAtWindow ? 0 : maxTokens
  return size.tokens + instructionRoom + output < situation.explanation.contextWindow.value
}

/** Everything before the first message that something keeps: the person, the settings, or that the model has not seen it. */
function partialOf(context: MechanismContext, keep: Keep | undefined): PartialChoice | undefined {
  const { view, range } = context
  if (range.from !== undefined) return { type: 'from', uuid: range.from }
  const { upTo } = range
  const unseen = unseenResults(view)
  const starts = [
    upTo === undefined ? undefined : { at: view.sources.findIndex(({ uuids }) => uuids.includes(upTo)), uuid: upTo },
    startAt(view, firstKept(context, keep)),
    // With the answer whose calls they belong to.
    startAt(view, unseen === undefined ? undefined : unseen - 1),
  ]
  const [first] = starts.filter((start) => start !== undefined).toSorted((one, other) => one.at - other.at)
  return first && { type: 'up-to', uuid: first.uuid }
}

function startAt({ sources }: View, at = -1) {
  const uuid = sources[at]?.uuids[0]
  return uuid === undefined ? undefined : { at, uuid }
}

/** The share of the target, or of the size if that is smaller, that may be kept verbatim after an overflow. */
const keptInRecovery = 0.25
/** The same share for the setting `keep`; the rest is for the summary. */
const longestKept = 0.5

/** The first of the newest messages that are kept. A person who compacts says what to keep. */
function firstKept(context: MechanismContext, keep: Keep | undefined): number | undefined {
  const { target, size, trigger, cause } = context
  const most = Math.min(target, size.tokens)
  if (cause === 'overflow') return newestMessages(context, most * keptInRecovery)
  if (keep === undefined || keep === 0 || trigger !== 'auto') return undefined
  const room = most * longestKept
  return typeof keep === 'number'
    ? newestMessages(context, room, keep)
    : newestMessages(context, Math.min(keep.tokens, room))
}

/** As many of the newest messages as fit into `room` tokens; none if even the newest round is too large. */
function newestMessages({ view, situation }: MechanismContext, room: number, most?: number): number | undefined {
  const { messages } = view
  const first = most === undefined ? 1 : Math.max(1, messages.length - most)
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
 * Compaction from the notes of session memory: tried first, since it asks no model. The notes are the summary; checks, the
 * user's words, state and restoring are the same as in every other compaction.
 */
export function memoryMechanism(memory: Memory, options: CompactMechanismOptions = {}): RunningMechanism {
  return {
    name: memoryName,
    run: async (context) => {
      const keeper = 'store' in memory ? memory : undefined
      const planned =
        'store' in memory ? await planMemory(memory, context, options) : declined(memory.why, memory.detail)
      const { ports, signal } = context
      if (planned.type === 'declined') {
        const { why, detail } = planned
        keeper?.noteDeclined({ why, detail })
        ports.emit({ type: 'memory-declined', reason: why })
        return { type: 'declined', why: `${why}: ${detail}` }
      }
      keeper?.noteDeclined(undefined)
      const result = mechanismResult(await performCompaction(planned.job, ports, signal))
      // The ladder notes a success under the same name.
      return result.type === 'compacted' ? { ...result, tried: [] } : result
    },
  }
}

function declined(why: MemoryDeclined['why'], detail: string) {
  return { type: 'declined', why, detail } as const
}

async function planMemory(keeper: MemoryKeeper, context: MechanismContext, options: CompactMechanismOptions) {
  const { instructions, range, view, ports } = context
  if (!keeper.settings.isOn) return declined('turned-off', 'Session memory is turned off.')
  if (ports.summaryPrompt || instructions.trim() !== '' || range.from !== undefined || range.upTo !== undefined) {
    return declined('instructions-given', 'The notes were taken without what is asked for now.')
  }
  if ((await keeper.store.settled()) === 'still-running') {
    return declined('extraction-running', 'An extraction is still running after 15 seconds.')
  }
  const made = fromNotes(keeper, context)
  if (made.type === 'declined') return made
  const uuid = view.sources[made.keepFrom]?.uuids[0]
  if (uuid === undefined) return declined('nothing-to-summarize', 'What would be kept has no entry in the transcript.')
  const job: CompactionJob = {
    ...jobFor(context, options),
    partial: { type: 'up-to', uuid },
    given: { text: made.summary, mechanism: memoryName, why: 'the notes of the session are the summary' },
  }
  // Checked before hooks run: if this declines, the next mechanism runs them.
  const planned = planCompaction(job, context.ports.model)
  if (planned.type === 'declined') return declined('nothing-to-summarize', planned.why)
  const { kept, limit } = planned.tokens
  const needed = kept + createTextCounter(context.counting)(made.summary)
  if (needed <= limit) return { type: 'planned', job } as const
  const detail = `Notes and kept messages have ${formatNumber(needed)} tokens, and ${formatNumber(limit)} are allowed.`
  return declined('over-target', detail)
}

function fromNotes(keeper: MemoryKeeper, context: MechanismContext): MemoryPlan {
  const { view, situation, overhead, counting } = context
  const places = new Map(view.sources.flatMap(({ uuids }, at) => uuids.map((uuid) => [uuid, at] as const)))
  return planFromMemory({
    messages: view.messages,
    notes: keeper.store.notes(),
    path: keeper.store.path,
    lastSeen: keeper.progress().lastSeen,
    indexOf: (uuid) => places.get(uuid) ?? -1,
    isResumed: keeper.isResumed(),
    threshold: situation.explanation.autoCompactThreshold.value,
    countTokens: createTextCounter(counting),
    weigh: situation.weigher.message,
    overhead,
    keep: keeper.settings.keep,
    measure: withMargin,
  })
}
