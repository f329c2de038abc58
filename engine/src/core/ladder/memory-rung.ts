// Compaction from the notes of session memory: the first rung, and the one that asks no model. The notes are the summary;
// everything else (checks, the user's words, state, restoring) is the same as in every other compaction.
import type { CompactionJob } from '../compaction/job.ts'
import { planCompaction, textCounter } from '../compaction/plan.ts'
import { performCompaction } from '../compaction/run.ts'
import type { MechanismContext, MechanismResult, RunningMechanism } from '../mechanisms/mechanism.ts'
import { type MemoryPlan, planFromMemory } from '../memory/plan.ts'
import { keeperOf, type Memory, type MemoryDeclined, type MemoryKeeper } from '../session/memory-keeper.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import { inWords } from '../tokens/figure.ts'
import { type CompactRungOptions, jobFor, rungResult } from './compact-rung.ts'

export const memoryMechanism = 'session-memory'

export function memoryRung(memory: Memory, options: CompactRungOptions = {}): RunningMechanism {
  return {
    name: memoryMechanism,
    run: async (context) => {
      const keeper = keeperOf(memory)
      const planned =
        'store' in memory ? await plan(memory, context, options) : ({ type: 'declined', ...memory } as const)
      if (planned.type === 'declined') return decline(keeper, context, planned)
      keeper?.noteDeclined(undefined)
      const result = rungResult(await performCompaction(planned.job, context.ports, context.signal))
      // Whoever climbs tells of a success under this very name.
      return result.type === 'compacted' ? { ...result, tried: [] } : result
    },
  }
}

function decline(
  keeper: MemoryKeeper | undefined,
  { ports }: MechanismContext,
  { why, detail }: MemoryDeclined,
): MechanismResult {
  keeper?.noteDeclined({ why, detail })
  ports.emit({ type: 'memory-declined', reason: why })
  return { type: 'declined', why: `${why}: ${detail}` }
}

type Planned = { readonly type: 'planned'; readonly job: CompactionJob }
type NotPlanned = MemoryDeclined & { readonly type: 'declined' }

async function plan(
  keeper: MemoryKeeper,
  context: MechanismContext,
  options: CompactRungOptions,
): Promise<Planned | NotPlanned> {
  const no = (why: MemoryDeclined['why'], detail: string): NotPlanned => ({ type: 'declined', why, detail })
  if (!keeper.settings.isOn) return no('turned-off', 'Session memory is turned off.')
  const { instructions, range } = context
  if (instructions.trim() !== '' || range.from !== undefined || range.upTo !== undefined) {
    return no('instructions-given', 'The notes were taken without what is asked for now.')
  }
  if ((await keeper.store.settled()) === 'still-running') {
    return no('extraction-running', 'An extraction is still running after 15 seconds.')
  }
  const made = fromNotes(keeper, context)
  if (made.type === 'declined') return made
  const uuid = context.view.sources[made.keepFrom]?.uuids[0]
  if (uuid === undefined) return no('nothing-to-summarise', 'What would be kept has no entry in the transcript.')
  const job: CompactionJob = {
    ...jobFor(context, options),
    // As the gauge has it: counting all of it again would take half of the time.
    viewTokens: Math.max(0, context.size.tokens - context.overhead),
    partial: { type: 'up-to', uuid },
    given: { text: made.summary, mechanism: memoryMechanism, why: 'the notes of the session are the summary' },
  }
  // Looked at before hooks run, so that they are not run a second time for the next rung.
  const planned = planCompaction(job, context.ports.model)
  if (planned.type === 'declined') return no('nothing-to-summarise', planned.why)
  const { kept, limit } = planned.tokens
  const needed = kept + textCounter(context.counting)(made.summary)
  if (needed <= limit) return { type: 'planned', job }
  return no('over-target', `Notes and kept messages have ${inWords(needed)} tokens, and ${inWords(limit)} are allowed.`)
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
    countTokens: textCounter(counting),
    weigh: situation.weigher.message,
    overhead,
    keep: keeper.keep,
    measure: withMargin,
  })
}
