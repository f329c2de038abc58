// Puts together what mechanisms may know besides the view. The clock reading and everything else from outside are
// handed in.

import type { CompactionAhead } from '../cache/economics.ts'
import type { CacheEditState } from '../cache/edit-state.ts'
import { type CacheState, cacheLifetimes, cacheStateOf } from '../cache/state.ts'
import { cachePrices, modelFacts } from '../catalog/models.ts'
import { type ExplainInput, explain } from '../tokens/explain.ts'
import type { View } from '../transcript/fold.ts'
import type { ClientAbilities, Situation } from './mechanism.ts'
import { paceOf } from './pace.ts'
import { type ReductionChoices, reductionSettings } from './settings.ts'
import { type ViewSizeOptions, viewSize } from './size.ts'
import { createWeigher, type Weigher } from './weigher.ts'

export type SituationInput = ExplainInput &
  Pick<ViewSizeOptions, 'freedSinceAnswer'> & {
    readonly now: number
    readonly reductions?: ReductionChoices
    /** Milliseconds that the provider keeps a prefix, where that is known. */
    readonly cacheLifetime?: number
    readonly client?: Partial<ClientAbilities>
    /** Whether the next request turns thinking on; not said, it is taken to where the model does so by itself. */
    readonly thinks?: boolean
    readonly expectedTurns?: number
    readonly cacheEdits?: CacheEditState
    /** The one of the conversation, so that nothing is weighed twice. */
    readonly weigher?: Weigher
  }

/** Throws a ConfigurationError when the settings of windows and thresholds cannot work. */
export function situationOf(view: View, input: SituationInput): Situation {
  const { messages } = view
  const size =
    input.size ?? viewSize(view, { ...input, measure: input.weigher?.measured, summaries: input.weigher?.summaries })
  const explanation = explain({ ...input, messages, size })
  const { model } = explanation
  const cache = cacheStateOf({ messages, now: input.now, lifetime: input.cacheLifetime })
  const weigher = input.weigher ?? createWeigher({ ...input, model })
  const { growth, base, coldShare } = paceOf(view, weigher, cache.lifetime)
  const facts = model === undefined ? undefined : modelFacts(model)
  return {
    explanation,
    weigher,
    cache,
    coldShare,
    now: input.now,
    model: facts,
    client: { cacheEdits: false, contextManagement: false, ...input.client },
    thinks: input.thinks ?? (facts?.thinking === 'always' || facts?.thinksUnasked === true),
    settings: reductionSettings(input.reductions),
    ...(input.expectedTurns === undefined ? {} : { expectedTurns: input.expectedTurns }),
    ...(growth === undefined ? {} : { growth }),
    ...(base === undefined ? {} : { base }),
    ...(input.cacheEdits === undefined ? {} : { cacheEdits: input.cacheEdits }),
  }
}

const mostTurns = 200
const usualTurns = 20

/**
 * In how many requests what is freed will be saved. Where a compaction comes by itself: until then, since it would have
 * dropped all of it. Else until the context is full again, since what goes makes room for more of them. A guess when
 * nothing is known.
 */
export function turnsAhead(situation: Situation, freed: number): number {
  const { expectedTurns, growth, explanation } = situation
  if (expectedTurns !== undefined) return expectedTurns
  if (growth === undefined || growth <= 0) return usualTurns
  const room = explanation.limit.value - explanation.size.tokens + (isCompactionComing(situation) ? 0 : freed)
  return Math.min(mostTurns, Math.max(1, Math.ceil(room / growth)))
}

/** Tokens of a summary, about. */
const usualSummary = 3_000

/** What the compaction that comes by itself will cost and leave; undefined where none comes, or too little is known. */
export function compactionAhead(situation: Situation): CompactionAhead | undefined {
  const { growth, base, explanation, model, cache } = situation
  if (!isCompactionComing(situation) || growth === undefined || base === undefined) return undefined
  const at = explanation.limit.value
  const after = Math.min(base + usualSummary, at)
  const outputPrice = model?.price ? model.price.output / model.price.input : 5
  const cost = at * cachePrices.read + usualSummary * outputPrice + after * writePrice(cache)
  return { at, after, cost, growth }
}

function writePrice({ lifetime }: CacheState): number {
  return lifetime > cacheLifetimes.short ? cachePrices.writeHour : cachePrices.write
}

function isCompactionComing({ explanation, expectedTurns }: Situation): boolean {
  return explanation.autoCompact.mode === true && expectedTurns === undefined
}

/**
 * No time to wait until it pays: no compaction will come to help, and less than half of the way from the warning to the
 * limit is left.
 */
export function isInDanger(situation: Situation): boolean {
  const { warning, limit, size, isBlocking } = situation.explanation
  if (situation.explanation.autoCompact.mode === true) return false
  return isBlocking || size.tokens >= (warning.value + limit.value) / 2
}
