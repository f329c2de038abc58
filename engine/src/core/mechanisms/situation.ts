// Collects what mechanisms may use besides the view: sizes, cache, growth, and the cost of the next compaction. The time and
// everything else from outside is an argument.
import type { CacheEditState } from '../cache/cache-watch.ts'
import {
  type CompactionAhead,
  cacheLifetimes,
  cacheStateOf,
  type Worth,
  type WorthInput,
  worthOf,
  writePrice,
} from '../cache/economics.ts'
import { cachePrices, modelFacts } from '../catalog/models.ts'
import type { ViewMessage } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'
import type { SafeRedact } from '../ports/restore.ts'
import { defaultSettings, type ReductionChoices, reductionSettings } from '../settings/resolve.ts'
import { type ExplainInput, type Explanation, explain, lastingThreshold } from '../tokens/explain.ts'
import type { View } from '../transcript/view/fold.ts'
import { createWeigher, viewSize, type Weigher } from './measure.ts'
import type { ClientAbilities, Situation } from './mechanism.ts'

export type SituationInput = ExplainInput & {
  /** The explanation of this view, if it was computed before. */
  readonly explanation?: Explanation
  readonly now: number
  readonly reductions?: ReductionChoices
  readonly cacheLifetime?: number
  readonly client?: Partial<ClientAbilities>
  /** Whether the next request turns thinking on. Default: what the model does without being asked. */
  readonly thinks?: boolean
  readonly expectedTurns?: number
  readonly cacheEdits?: CacheEditState
  /** false if no compaction will run although the settings allow it, for example while the breaker is open. */
  readonly compactionComes?: boolean
  /** false if the summary is requested separately, without the conversation's prefix. */
  readonly sharesCache?: boolean
  /** A compaction has to get below this share of the threshold. Default: 0.6. */
  readonly targetShare?: number
  /** Tokens of the system prompt and the tools, which no compaction reduces. Default: 0. */
  readonly overhead?: number
  /** The conversation's weigher, so that nothing is weighed twice. */
  readonly weigher?: Weigher
  /** The host's redaction, for the quotations of stubs. */
  readonly redact?: SafeRedact | undefined
}

/** Throws a ConfigurationError if windows and thresholds cannot work. */
export function situationOf(view: View, input: SituationInput): Situation {
  const { messages } = view
  const explanation = input.explanation ?? explained(view, input)
  const { model } = explanation
  const cache = cacheStateOf({ messages, now: input.now, lifetime: input.cacheLifetime })
  const weigher = input.weigher ?? createWeigher({ ...input, model })
  const facts = model === undefined ? undefined : modelFacts(model)
  const client = { cacheEdits: false, contextManagement: false, ...input.client }
  const settings = reductionSettings(input.reductions)
  return {
    ...weigher.once(createPaceReader, weigher)(view, cache.lifetime),
    explanation,
    weigher,
    cache,
    compactionComes: explanation.autoCompact.mode === true && input.compactionComes !== false,
    sharesCache: input.sharesCache ?? true,
    target: targetOf(lastingThreshold(explanation), input),
    now: input.now,
    model: facts,
    client,
    thinks: input.thinks ?? (facts?.thinking === 'always' || facts?.thinksUnasked === true),
    // A cache edit reaches only results.
    settings: client.cacheEdits ? { ...settings, clearInputs: false } : settings,
    expectedTurns: input.expectedTurns,
    isCompacted: messages[0]?.origin === 'summary',
    cacheEdits: input.cacheEdits,
    redact: input.redact,
  }
}

/** Share of the room besides the system prompt and the tools. A compaction may always leave this much. */
const minRoomShare = 0.5

function targetOf(threshold: number, { targetShare = defaultSettings.target, overhead = 0 }: SituationInput): number {
  const room = threshold - overhead
  const minTarget = room > 0 ? overhead + room * Math.min(minRoomShare, targetShare) : 0
  return Math.floor(Math.max(threshold * targetShare, minTarget))
}

function explained(view: View, input: SituationInput): Explanation {
  const size = input.size ?? viewSize(view, { ...input, measure: input.weigher?.measured })
  return explain({ ...input, messages: view.messages, size, isCompactionUndone: view.isCompactionUndone })
}

/** Forecasts look at most this many requests ahead. */
const maxTurns = 200
/** Number of further requests if nothing is known. */
const defaultTurns = 20

/** Requests until the next compaction, otherwise until the context is full again. A guess if nothing is known. */
function turnsAhead(situation: Situation, freed: number): number {
  const { expectedTurns, growth, explanation } = situation
  if (expectedTurns !== undefined) return expectedTurns
  if (growth === undefined || growth <= 0) return defaultTurns
  const room = explanation.limit.value - explanation.size.tokens + (isCompactionComing(situation) ? 0 : freed)
  return Math.min(maxTurns, Math.max(1, Math.ceil(room / growth)))
}

export function worthIn(situation: Situation, sum: Omit<WorthInput, 'turns' | 'cache' | 'price'>): Worth {
  const { cache, model } = situation
  return worthOf({ ...sum, turns: turnsAhead(situation, sum.freed), cache, price: model?.price })
}

/** Typical tokens of a summary, and of everything that a first compaction leaves besides the system prompt and tools. */
export const summaryTokens = 6_000
const leftTokens = 8_000

/** The next compaction. Undefined if none will run, too little is known, or it is too far away to matter. */
export function compactionAhead(situation: Situation): CompactionAhead | undefined {
  const { explanation } = situation
  const costs = isCompactionComing(situation) ? compactionCosts(situation) : undefined
  const at = explanation.limit.value
  if (!costs || (at - explanation.size.tokens) / costs.growth > maxTurns) return undefined
  const { fixed, perToken, growth } = costs
  return { at, after: Math.min(costs.after, at), cost: fixed + perToken * at, growth }
}

/**
 * The costs of a compaction, in tokens at the input price. `fixed`: writing the summary and caching the new context.
 * `perToken`: reading one token of the old context. `rent`: sending one token with one request. Undefined if too little is
 * known.
 */
export function compactionCosts({ growth, base, model, cache, coldShare, isCompacted, sharesCache }: Situation) {
  if (growth === undefined || base === undefined) return undefined
  const { read } = cachePrices
  const write = writePrice(cache)
  const after = isCompacted ? base : base + leftTokens
  const outputPrice = model?.price ? model.price.output / model.price.input : 5
  const fixed = summaryTokens * outputPrice + after * write
  return { after, fixed, perToken: sharesCache ? read : 1, growth, rent: read + coldShare * (write - read) }
}

function isCompactionComing({ compactionComes, expectedTurns }: Situation): boolean {
  return compactionComes && expectedTurns === undefined
}

/** True if waiting is no longer safe: no compaction will run, and the context is past halfway from the warning to the limit. */
export function isInDanger(situation: Situation): boolean {
  const { warning, limit, size, isBlocking } = situation.explanation
  if (situation.compactionComes) return false
  return isBlocking || size.tokens >= (warning.value + limit.value) / 2
}

/** True if freeing this much makes a due compaction unnecessary. A compaction costs more than writing any cache again. */
export function sparesCompaction({ explanation, target }: Situation, freed: number): boolean {
  return explanation.isAboveThreshold && explanation.size.tokens - freed < target
}

/** How fast a conversation grows, and how often its cache has expired between two answers. */
type PaceReader = (view: Pick<View, 'messages'>, lifetime: number) => ReturnType<typeof paceFrom>

/**
 * Keep one per conversation, so that it reads only messages that are new since the last view. If the view does not start like the
 * last one, it is read from the start.
 */
export function createPaceReader(): PaceReader {
  let known: readonly ViewMessage[] = []
  /** Sums over all known messages except the newest, which the next view may replace. */
  let before = noSums
  return ({ messages }, lifetime) => {
    const isContinued = before.read > 0 && startsAlike(messages, known, before.read)
    const settled = sumsOf(messages, isContinued ? before : noSums, messages.length - mutableMessages)
    known = messages
    before = settled
    return paceFrom(sumsOf(messages, settled, messages.length), lifetime)
  }
}

/** Messages at the end of a view that new entries may still extend: an answer and its results. */
const mutableMessages = 2

function startsAlike(one: readonly ViewMessage[], other: readonly ViewMessage[], count: number): boolean {
  for (let at = 0; at < count; at++) if (one[at] !== other[at]) return false
  return true
}

type Sums = {
  readonly read: number
  readonly grown: number
  readonly steps: number
  readonly answers: number
  readonly short: number
  readonly long: number
  readonly size: number | undefined
  readonly base: number | undefined
  readonly lastAnswer: number | undefined
}

const noSums: Sums = {
  read: 0,
  grown: 0,
  steps: 0,
  answers: 0,
  short: 0,
  long: 0,
  size: undefined,
  base: undefined,
  lastAnswer: undefined,
}

function sumsOf(messages: readonly ViewMessage[], before: Sums, end: number): Sums {
  const sums: { -readonly [Key in keyof Sums]: Sums[Key] } = { ...before }
  for (; sums.read < end; sums.read++) {
    const { role, usage, time } = messages[sums.read] as ViewMessage
    if (usage) {
      const size = contextTokens(usage)
      sums.base = Math.min(sums.base ?? size, size)
      // A smaller context comes from a reduction, not from growth.
      if (sums.size !== undefined && size >= sums.size) {
        sums.grown += size - sums.size
        sums.steps++
      }
      sums.size = size
    }
    if (role !== 'assistant' || time === undefined) continue
    const pause = sums.lastAnswer === undefined ? 0 : time - sums.lastAnswer
    if (pause >= cacheLifetimes.short) sums.short++
    if (pause >= cacheLifetimes.long) sums.long++
    sums.answers++
    sums.lastAnswer = time
  }
  return sums
}

/** The share of cold requests in real sessions. It weighs as much as `typicalAnswers` answers of this session. */
const typicalColdShare = { short: 0.03, long: 0.007 } as const
const typicalAnswers = 50

/** Growth is a mean. A median would miss the few large results that cause most of it. */
function paceFrom(sums: Sums, lifetime: number) {
  const share = (which: 'short' | 'long') =>
    (sums[which] + typicalColdShare[which] * typicalAnswers) / (sums.answers + typicalAnswers)
  const growth = sums.grown / sums.steps
  const coldShares = { short: share('short'), long: share('long') }
  const coldShare = lifetime > cacheLifetimes.short ? coldShares.long : coldShares.short
  return { growth: growth > 0 ? growth : undefined, base: sums.base, coldShare, coldShares }
}
