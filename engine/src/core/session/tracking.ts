// What a session remembers about one conversation besides its transcript: turns, the circuit breaker of automatic compaction, the
// cache, content that the server omits, and spending. Each sub-agent has its own.
import {
  type CacheEditState,
  type CacheWatch,
  changedWatch,
  freshWatch,
  noCacheEdits,
  withDeleted,
} from '../cache/cache-watch.ts'
import { costOf } from '../cache/economics.ts'
import { addCounts, type CacheOutcome, cacheOutcomes, noTokens, type TokenCounts } from '../message/usage.ts'
import type { QuerySource } from '../ports/model.ts'
import type { ChainInfo, RequestOptions } from '../ports/outcome.ts'
import type { ContextState } from '../tokens/explain.ts'

/** Counts attempts without progress and stops automatic compaction after a few. It never stops a person. */
export type Breaker = {
  /** Attempts in a row that failed or freed too little. */
  readonly failures: number
  /** Compactions in a row with only a few answers and no human message between them. */
  readonly rapid: number
  /** A snip, another model, other tools or a manual compaction followed, so the next human message closes the breaker. */
  readonly isChanged: boolean
  readonly isOpen: boolean
  /** A refused prompt was compacted although the breaker is open. This is done once. */
  readonly hasRecovered: boolean
}

export const closedBreaker: Breaker = {
  failures: 0,
  rapid: 0,
  isChanged: false,
  isOpen: false,
  hasRecovered: false,
}

export const maxFailures = 3
const maxRapid = 3
/** If the context is full again after this many answers, compacting did not help. */
export const fewAnswers = 2

export function afterFailure(breaker: Breaker): Breaker {
  const failures = breaker.failures + 1
  return { ...breaker, failures, isOpen: breaker.isOpen || failures >= maxFailures }
}

/** `isRapid`: only a few answers and no human message since the previous compaction. */
export function afterApplied(breaker: Breaker, { isRapid }: { readonly isRapid: boolean }): Breaker {
  const rapid = isRapid ? breaker.rapid + 1 : 0
  // While it stays open, an overflow is still compacted only once.
  return withOpen({ ...closedBreaker, rapid, hasRecovered: breaker.hasRecovered }, rapid >= maxRapid)
}

export function afterHand(breaker: Breaker): Breaker {
  return afterChange(unchained(breaker))
}

/** A person is present, so compactions in quick succession are no reason to stay open. */
function unchained(breaker: Breaker): Breaker {
  return withOpen({ ...breaker, rapid: 0 }, breaker.isOpen && breaker.failures >= maxFailures)
}

/** A breaker that closes forgets that it allowed a recovery. */
function withOpen(breaker: Breaker, isOpen: boolean): Breaker {
  return { ...breaker, isOpen, hasRecovered: isOpen && breaker.hasRecovered }
}

export function afterChange(breaker: Breaker): Breaker {
  return breaker.isChanged || inARow(breaker) === 0 ? breaker : { ...breaker, isChanged: true }
}

/** A human message alone does not remove the cause of failures; after a change it is worth another try. */
export function afterHuman(breaker: Breaker): Breaker {
  return breaker.isChanged ? closedBreaker : unchained(breaker)
}

/** A prompt was refused. Without a compaction, the conversation would be stuck. */
export function afterRecovery(breaker: Breaker): Breaker {
  return breaker.isOpen ? { ...breaker, hasRecovered: true } : breaker
}

/** Attempts in a row without progress, of the more frequent kind. */
export function inARow({ failures, rapid }: Breaker): number {
  return Math.max(failures, rapid)
}

export const breakerText =
  'Automatic compaction has stopped for this conversation: several in a row failed, or left the context nearly full. ' +
  'Compact by hand, remove something large, or change the model; then go on.'

export type Tracking = {
  /** Id of the current turn. A compaction and a human message start a new one. */
  readonly turnId: string
  /** Answers since the last compaction. */
  readonly turns: number
  readonly breaker: Breaker
  /** The last compaction, and whether a person has spoken since. */
  readonly previous?: { readonly turnId: string; readonly hasHumanSince: boolean }
  readonly watch: CacheWatch
  /** The time when the open request was sent. */
  readonly requestedAt?: number | undefined
  readonly cacheEdits: CacheEditState
  /** A requested compaction, which is tried before the next request. */
  readonly scheduled?: { readonly instructions: string } | undefined
  /** In ask mode: the host refused or did not answer. It is asked again after the next human message. */
  readonly isRefused: boolean
  /** Whether a notice has said that system prompt and tools alone are over the threshold. */
  readonly isOverheadReported: boolean
  /** Tokens freed by snips since the newest answer. */
  readonly freedBySnips: number
  /** Time of the answer after which a cold cache was reported. */
  readonly coldAfter?: number | undefined
  /** The last reported state, so that each crossing is reported once. */
  readonly state: ContextState
}

const initialTracking: Omit<Tracking, 'turnId'> = {
  turns: 0,
  breaker: closedBreaker,
  watch: freshWatch,
  cacheEdits: noCacheEdits,
  isRefused: false,
  isOverheadReported: false,
  freedBySnips: 0,
  state: 'ok',
}

export class Tracker {
  private value: Tracking
  private options: RequestOptions | undefined
  private added: RequestOptions | undefined

  constructor(turnId: string, initial: Partial<Tracking> = {}) {
    this.value = { ...initialTracking, turnId, ...initial }
  }

  now = (): Tracking => this.value

  /** Options that ask the server to omit content from the next request. */
  serverOptions = (): RequestOptions | undefined => this.options

  /** Further options for the server, independent of the mechanism that acted. */
  addedOptions = (): RequestOptions | undefined => this.added

  human(turnId: string): void {
    const { previous, breaker } = this.value
    this.set({
      turnId,
      breaker: afterHuman(breaker),
      ...(previous ? { previous: { ...previous, hasHumanSince: true } } : {}),
      isRefused: false,
      isOverheadReported: false,
    })
  }

  /** Its usage includes everything that was snipped before it. */
  answer(): void {
    this.set({ turns: this.value.turns + 1, freedBySnips: 0 })
  }

  /** A compaction was applied in any way: counters restart, and the prefix has changed. */
  compaction(turnId: string): void {
    const { breaker, previous, turns } = this.value
    const isChained = previous?.hasHumanSince === false
    this.set({
      turnId,
      turns: 0,
      breaker: afterApplied(breaker, { isRapid: isChained && turns <= fewAnswers }),
      previous: { turnId: this.value.turnId, hasHumanSince: false },
      scheduled: undefined,
      watch: changedWatch(this.value.watch),
      cacheEdits: noCacheEdits,
      freedBySnips: 0,
      state: 'ok',
    })
  }

  changeBreaker = (change: (breaker: Breaker) => Breaker): void => this.set({ breaker: change(this.value.breaker) })

  /** Edits, an undo or a rewind changed the view, and with it the prefix. */
  viewChange(): void {
    this.set({ watch: changedWatch(this.value.watch), cacheEdits: noCacheEdits })
  }

  snipped = (tokens: number): void => this.set({ freedBySnips: Math.max(0, this.value.freedBySnips + tokens) })

  askServer = (options: RequestOptions | undefined): void => {
    this.options = options
  }

  addToServer = (options: RequestOptions | undefined): void => {
    this.added = options
  }

  /** From now on, the server omits results. */
  delegate(request: RequestOptions, freed: number): void {
    this.askServer(request)
    const deleted = request.leftOut ?? request.cacheEdits?.map(({ cache_reference }) => cache_reference)
    if (!deleted) return
    const { cacheEdits } = this.value
    this.set({
      cacheEdits: withDeleted(cacheEdits, deleted, freed),
      // Without cache edits the server writes the prefix anew.
      ...(request.cacheEdits ? {} : { watch: changedWatch(this.value.watch) }),
    })
  }

  /** How the next compaction relates to the last one. */
  chain(threshold: number): ChainInfo {
    const { previous, turns } = this.value
    const since = previous && { turnsSincePrevious: turns, previousTurnId: previous.turnId }
    return { isRecompaction: previous?.hasHumanSince === false, ...since, threshold, source: 'turn' }
  }

  set(changed: Partial<Tracking>): void {
    this.value = { ...this.value, ...changed }
  }
}

export type PurposeUsage = {
  readonly requests: number
  readonly usage: TokenCounts
  /** In US dollars. Undefined if a price is unknown. */
  readonly cost: number | undefined
}

/** How many requests hit the cache, and the reasons of all others. Together they are all requests. */
export type CacheOutcomes = Readonly<Record<CacheOutcome, number>>

export type UsageByPurpose = Readonly<Record<QuerySource, PurposeUsage>> & {
  readonly turn: PurposeUsage & { readonly cache: CacheOutcomes }
}

type RequestUsage = {
  readonly source: QuerySource
  readonly usage: TokenCounts
  readonly model: string
  /** Only for a turn. */
  readonly cache?: CacheOutcome
}

export type UsageMeter = ReturnType<typeof createUsageMeter>

/** The usage of a session since it was opened, by purpose. */
export function createUsageMeter() {
  const none: PurposeUsage = { requests: 0, usage: noTokens, cost: 0 }
  const noOutcomes = Object.fromEntries(cacheOutcomes.map((outcome) => [outcome, 0])) as CacheOutcomes
  let total: UsageByPurpose = {
    turn: { ...none, cache: noOutcomes },
    compact: none,
    'session-memory': none,
    collapse: none,
  }
  return {
    total: (): UsageByPurpose => total,
    add: (used: RequestUsage): void => {
      const { source, usage, model, cache } = used
      const { requests, usage: before, cost: paid } = total[source]
      const more = costOf(usage, model)
      const cost = paid === undefined || more === undefined ? undefined : paid + more
      const counted = { requests: requests + 1, usage: addCounts(before, usage), cost }
      const outcomes = cache ? { cache: { ...total.turn.cache, [cache]: total.turn.cache[cache] + 1 } } : {}
      total = { ...total, [source]: { ...total[source], ...counted, ...outcomes } }
    },
  }
}
