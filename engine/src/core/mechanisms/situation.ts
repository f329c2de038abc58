// Puts together what mechanisms may know besides the view. The clock reading and everything else from outside are
// handed in.
import type { CacheEditState } from '../cache/edit-state.ts'
import { cacheStateOf } from '../cache/state.ts'
import { modelFacts } from '../catalog/models.ts'
import { contextTokens } from '../message/usage.ts'
import { type ExplainInput, explain } from '../tokens/explain.ts'
import { predictCompaction, type TurnSize, turnsLookedAt } from '../tokens/predict.ts'
import type { View } from '../transcript/fold.ts'
import type { ClientAbilities, Situation } from './mechanism.ts'
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
  const growth = growthOf(view)
  const facts = model === undefined ? undefined : modelFacts(model)
  return {
    explanation,
    weigher: input.weigher ?? createWeigher({ ...input, model }),
    cache: cacheStateOf({ messages, now: input.now, lifetime: input.cacheLifetime }),
    now: input.now,
    model: facts,
    client: { cacheEdits: false, contextManagement: false, ...input.client },
    thinks: input.thinks ?? (facts?.thinking === 'always' || facts?.thinksUnasked === true),
    settings: reductionSettings(input.reductions),
    ...(input.expectedTurns === undefined ? {} : { expectedTurns: input.expectedTurns }),
    ...(growth === undefined ? {} : { growth }),
    ...(input.cacheEdits === undefined ? {} : { cacheEdits: input.cacheEdits }),
  }
}

/** The median over the newest answers in the view: those before them would not be looked at. */
function growthOf({ messages }: View): number | undefined {
  const sizes: TurnSize[] = []
  for (let at = messages.length - 1; at >= 0 && sizes.length <= turnsLookedAt; at--) {
    const usage = messages[at]?.usage
    if (usage) sizes.push({ tokens: contextTokens(usage) })
  }
  return predictCompaction(sizes.reverse(), Number.MAX_SAFE_INTEGER)?.growth
}

const mostTurns = 200
const usualTurns = 20

/**
 * How many requests what is freed will be saved in: until the context is full again, since what goes makes room for
 * more of them. A guess when nothing is known.
 */
export function turnsAhead({ expectedTurns, growth, explanation }: Situation, freed: number): number {
  if (expectedTurns !== undefined) return expectedTurns
  if (growth === undefined || growth <= 0) return usualTurns
  const room = explanation.limit.value - explanation.size.tokens + freed
  return Math.min(mostTurns, Math.max(1, Math.ceil(room / growth)))
}

/** Less than half of the way from the warning to the limit is left: no time to wait until it pays. */
export function isInDanger({ explanation }: Situation): boolean {
  const { warning, limit, size, isAboveThreshold, isBlocking } = explanation
  return isAboveThreshold || isBlocking || size.tokens >= (warning.value + limit.value) / 2
}
