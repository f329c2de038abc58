// Compaction from the notes of session memory: the first rung, and the one that asks no model. It plans with the notes,
// and commits through the same procedure as every other compaction. Each reason to decline is told.
import { type MemoryPlan, planFromMemory } from '../mechanisms/session-memory/plan.ts'
import { withMargin } from '../tokens/counting.ts'
import { inWords } from '../tokens/figure.ts'
import { runCompaction } from './compact.ts'
import { textCounter } from './compact-fit.ts'
import { type CompactionInput, defaultCompaction } from './compact-input.ts'
import { mostTokens } from './compact-plan.ts'
import { type CompactRungOptions, inputFor, rungResult } from './compact-rung.ts'
import { keeperOf, type Memory, type MemoryDeclined, type MemoryKeeper } from './memory-keeper.ts'
import type { Rung, RungContext, RungResult } from './rung.ts'

export const memoryMechanism = 'session-memory'

export function memoryRung(memory: Memory, options: CompactRungOptions = {}): Rung {
  return {
    name: memoryMechanism,
    run: async (context) => {
      const keeper = keeperOf(memory)
      const planned =
        'store' in memory ? await plan(memory, context, options) : ({ type: 'declined', ...memory } as const)
      if (planned.type === 'declined') return decline(keeper, context, planned)
      keeper?.noteDeclined(undefined)
      const result = rungResult(await runCompaction(planned.input, context.ports, context.signal))
      // Whoever climbs tells of a success under this very name.
      return result.type === 'compacted' ? { ...result, tried: [] } : result
    },
  }
}

function decline(
  keeper: MemoryKeeper | undefined,
  { ports }: RungContext,
  { why, detail }: MemoryDeclined,
): RungResult {
  keeper?.noteDeclined({ why, detail })
  ports.emit({ type: 'memory-declined', reason: why })
  return { type: 'declined', why: `${why}: ${detail}` }
}

type Planned = { readonly type: 'planned'; readonly input: CompactionInput }
type NotPlanned = MemoryDeclined & { readonly type: 'declined' }

async function plan(
  keeper: MemoryKeeper,
  context: RungContext,
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
  const input: CompactionInput = {
    ...inputFor(context, options),
    // As the gauge has it: counting all of it anew would take half of the time.
    viewTokens: Math.max(0, context.size.tokens - context.overhead),
    partial: { type: 'up-to', uuid },
    given: { text: made.summary, mechanism: memoryMechanism, why: 'the notes of the session are the summary' },
  }
  const { needed, most } = roomFor(context, { input, made })
  if (needed <= most) return { type: 'planned', input }
  return no('over-target', `Notes and kept messages have ${inWords(needed)} tokens, and ${inWords(most)} are allowed.`)
}

function fromNotes(keeper: MemoryKeeper, context: RungContext): MemoryPlan {
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

/** Looked at before hooks run, so that they are not run a second time for the next rung. */
function roomFor(
  { view, situation, counting }: RungContext,
  {
    input,
    made,
  }: { readonly input: CompactionInput; readonly made: Extract<MemoryPlan, { readonly type: 'planned' }> },
): { readonly needed: number; readonly most: number } {
  const kept = view.messages.slice(made.keepFrom).reduce((sum, message) => sum + situation.weigher.message(message), 0)
  const most = mostTokens(input, {
    settings: { ...defaultCompaction, ...input.settings },
    tokensBefore: input.viewTokens ?? 0,
  })
  return { needed: Math.ceil(kept + textCounter(counting)(made.summary)), most }
}
