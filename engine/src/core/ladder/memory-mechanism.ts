// Compaction from the notes of session memory: tried first, since it asks no model. The notes are the summary; checks, the
// user's words, state and restoring are the same as in every other compaction.
import type { CompactionJob } from '../compaction/job.ts'
import { planCompaction } from '../compaction/plan.ts'
import { performCompaction } from '../compaction/run.ts'
import type { MechanismContext, RunningMechanism } from '../mechanisms/mechanism.ts'
import { type MemoryPlan, planFromMemory } from '../memory/plan.ts'
import type { Memory, MemoryDeclined, MemoryKeeper } from '../session/memory-keeper.ts'
import { createTextCounter, withMargin } from '../tokens/estimate/counting.ts'
import { formatNumber } from '../tokens/figure.ts'
import { type CompactMechanismOptions, jobFor, mechanismResult } from './compact-mechanism.ts'

const name = 'session-memory'

export function memoryMechanism(memory: Memory, options: CompactMechanismOptions = {}): RunningMechanism {
  return {
    name,
    run: async (context) => {
      const keeper = 'store' in memory ? memory : undefined
      const planned = 'store' in memory ? await plan(memory, context, options) : declined(memory.why, memory.detail)
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

type NotPlanned = MemoryDeclined & { readonly type: 'declined' }

function declined(why: MemoryDeclined['why'], detail: string): NotPlanned {
  return { type: 'declined', why, detail }
}

async function plan(
  keeper: MemoryKeeper,
  context: MechanismContext,
  options: CompactMechanismOptions,
): Promise<{ readonly type: 'planned'; readonly job: CompactionJob } | NotPlanned> {
  const { instructions, range, size, overhead, view } = context
  if (!keeper.settings.isOn) return declined('turned-off', 'Session memory is turned off.')
  if (instructions.trim() !== '' || range.from !== undefined || range.upTo !== undefined) {
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
    // Counting everything again would take half of the time.
    viewTokens: Math.max(0, size.tokens - overhead),
    partial: { type: 'up-to', uuid },
    given: { text: made.summary, mechanism: name, why: 'the notes of the session are the summary' },
  }
  // Checked before hooks run: if this declines, the next mechanism runs them.
  const planned = planCompaction(job, context.ports.model)
  if (planned.type === 'declined') return declined('nothing-to-summarize', planned.why)
  const { kept, limit } = planned.tokens
  const needed = kept + createTextCounter(context.counting)(made.summary)
  if (needed <= limit) return { type: 'planned', job }
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
    keep: keeper.keep,
    measure: withMargin,
  })
}
