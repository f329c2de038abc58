// The ladder: for each trigger the mechanisms in the order in which they are tried, and how they are tried. A mechanism may be
// the host's own code: it ends in bounded time with a valid result, and what it committed stays committed.
import type { Mechanism, MechanismContext, MechanismResult, PlanningMechanism, Spent } from '../mechanisms/mechanism.ts'
import { microByCacheEdit, microByIdle, microBySize } from '../mechanisms/micro.ts'
import { native } from '../mechanisms/native.ts'
import { defined, describeValue, isObject, type JsonObject } from '../message/json.ts'
import { addCounts, noTokens, totalOf } from '../message/usage.ts'
import type { CompactionFailure, Tried } from '../ports/events.ts'
import { guarded, slowTimeoutMs } from '../ports/guarded.ts'

/** Before each request; over the threshold; on a person's command; after the provider refused a request as too long. */
export type LadderTrigger = 'every-request' | 'over-threshold' | 'manual' | 'overflow'

/** Each mechanism is tried only when the one before it failed or declined. */
export type Ladder = Readonly<Record<LadderTrigger, readonly Mechanism[]>>

/** Mechanisms that belong to one session: they know its notes and its staged summaries. */
export type SessionMechanisms = {
  readonly memory?: Mechanism | undefined
  readonly collapse?: Mechanism | undefined
  /** Whether to use the server's own context management. */
  readonly isNative?: boolean
}

/** `compaction` are the mechanisms that summarize, cheapest first; the last one should never fail. */
export function defaultLadder(
  compaction: readonly Mechanism[],
  { memory, collapse, isNative = false }: SessionMechanisms = {},
): Ladder {
  const whole = memory ? [memory, ...compaction] : compaction
  const micro = [microByIdle, microByCacheEdit, microBySize, ...(isNative ? [native] : [])]
  return {
    'every-request': collapse ? [collapse, ...micro] : micro,
    'over-threshold': whole,
    manual: whole,
    overflow: compaction,
  }
}

export type Solution = Exclude<MechanismResult, { readonly type: 'declined' | 'failed' }>
/** A result that the caller applies; a committed compaction is applied already. */
export type Unapplied = Exclude<Solution, { readonly type: 'compacted' }>

export type Climbed = {
  readonly tried: readonly Tried[]
  readonly solution?: Solution
  /** Why the last mechanism failed, if none succeeded. */
  readonly reason?: CompactionFailure | undefined
  /** By all mechanisms together. */
  readonly spent: Spent
}

/**
 * Tries one mechanism after the other until one has a result that is good enough, and applies nothing. `judge` says why a
 * result is not.
 */
export async function climb(
  mechanisms: readonly Mechanism[],
  context: MechanismContext,
  judge: (found: Unapplied) => string | undefined = () => undefined,
): Promise<Climbed> {
  const tried: Tried[] = []
  let reason: CompactionFailure | undefined
  let spent: Spent = { usage: noTokens }
  const note = (mechanism: string, outcome: Tried['outcome'], why: string) => {
    tried.push({ mechanism, outcome, why })
    context.ports.emit({ type: 'mechanism-tried', mechanism, outcome, why })
  }
  for (const mechanism of mechanisms) {
    const { name } = mechanism
    if (context.signal?.aborted) return { tried, reason: 'aborted', spent }
    const result = await runMechanism(mechanism, context)
    if ('tried' in result) tried.push(...(result.tried ?? []))
    spent = together(spent, spentBy(result))
    if (result.type === 'declined') note(name, 'declined', result.why)
    else if (result.type === 'failed') {
      note(name, 'failed', result.why)
      reason = result.reason
      // A person or a hook that said no means the remaining mechanisms too.
      if (reason === 'aborted' || reason === 'vetoed') return { tried, reason, spent }
    } else {
      const problem = result.type === 'compacted' ? undefined : judge(result)
      note(name, problem === undefined ? 'done' : 'failed', problem ?? describe(result))
      if (problem === undefined) return { tried, solution: result, spent }
      reason = 'no_progress'
    }
  }
  return { tried, spent, ...defined({ reason }) }
}

function spentBy(result: MechanismResult): Spent | undefined {
  if (result.type === 'failed') return result.spent
  return result.type === 'compacted' ? result : undefined
}

/** A cost that is not known stays unknown. */
function together(before: Spent, more: Spent | undefined): Spent {
  if (!more) return before
  const isFree = totalOf(before.usage) === 0
  const cost = isFree ? more.cost : totalOf(more.usage) === 0 ? before.cost : sumOf(before.cost, more.cost)
  return {
    usage: addCounts(before.usage, more.usage),
    attempts: (before.attempts ?? 0) + (more.attempts ?? 0),
    ...defined({ cost, hitRate: more.hitRate ?? before.hitRate }),
  }
}

function sumOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other
}

function describe(solution: Solution): string {
  if (solution.type === 'compacted') return `summarized by ${solution.mechanism}`
  const { results, freed } = solution
  if (solution.type === 'reduced') return `cleared ${results}, freed ${freed} tokens`
  return `asked the server to leave out ${results}, about ${freed} tokens`
}

/** How long a mechanism may take to end after an abort. */
const abortGraceMs = 5_000

export async function runMechanism(mechanism: Mechanism, context: MechanismContext): Promise<MechanismResult> {
  const { name } = mechanism
  const { ports, signal } = context
  let isCommitted = false
  let isCommitting = false
  let isGivenUp = false
  let wasHeard = false
  const emit: typeof ports.emit = (event) => {
    wasHeard = true
    ports.emit(event)
  }
  const commit: MechanismContext['commit'] = async (records) => {
    if (isGivenUp) return { type: 'failed', reason: 'aborted', message: 'It came too late.' }
    isCommitting = true
    try {
      const committed = await context.commit(records)
      isCommitted ||= committed.type === 'committed'
      return committed
    } finally {
      isCommitting = false
    }
  }
  // Events are a sign of life. A compaction prepared in the background has to wait for its turn to commit.
  const isAlive = () => {
    const isAlive = wasHeard || isCommitting
    wasHeard = false
    return isAlive
  }
  const own = { ...context, ports: { ...ports, emit }, commit }
  const call = () => ('plan' in mechanism ? runPlan(mechanism, own) : mechanism.run(own))
  const limits = { wait: ports.wait, timeoutMs: slowTimeoutMs, graceMs: abortGraceMs, signal, isAlive }
  const called = await guarded<unknown>(call, limits)
  isGivenUp = true
  const problem = called.type === 'returned' ? problemWith(called.value, isCommitted) : undefined
  if (called.type === 'returned' && problem === undefined) return called.value as MechanismResult
  const why = called.type === 'broke' ? called.why : problem
  if (why !== undefined) ports.emit({ type: 'host-code-failed', code: 'mechanism', problem: `${name}: ${why}` })
  if (isCommitted) return { type: 'compacted', mechanism: name, usage: noTokens, restored: 0 }
  if (why === undefined) return { type: 'failed', reason: 'aborted', why: 'It was stopped.' }
  return { type: 'failed', reason: 'no_summary', why: `It did not work: ${why}.` }
}

/** The plan is all there is to do; the caller applies it. */
export function runPlan({ plan }: PlanningMechanism, { view, situation }: MechanismContext): MechanismResult {
  const made = plan(view, situation)
  if (made.type === 'declined') return { type: 'declined', why: `${made.why}: ${made.detail}` }
  const { outcome, freed, items } = made
  const results = items.length
  if (outcome.type === 'edits') return { type: 'reduced', edits: outcome.edits, freed, results }
  return { type: 'delegated', request: outcome.request, freed, results }
}

/** Why this is not a valid result, or contradicts what was committed; undefined when it is fine. */
function problemWith(value: unknown, isCommitted: boolean): string | undefined {
  if (!isObject(value) || !isResult(value)) return `returned ${describeValue(value)}, which is not a valid result`
  if (isCommitted && value.type !== 'compacted') return `committed a compaction, then returned "${value.type}"`
  if (!isCommitted && value.type === 'compacted') return 'returned "compacted" but committed nothing'
  return undefined
}

function isResult({ type, why, ...value }: JsonObject): boolean {
  const isCounted = Number.isFinite(value.freed) && Number.isFinite(value.results)
  if (type === 'reduced') return isCounted && Array.isArray(value.edits) && value.edits.every(isObject)
  if (type === 'delegated') return isCounted && isObject(value.request)
  if (type === 'declined') return typeof why === 'string'
  const isPaid = value.spent === undefined || (isObject(value.spent) && isObject(value.spent.usage))
  if (type === 'failed') return typeof why === 'string' && typeof value.reason === 'string' && isPaid
  const isMeasured = isObject(value.usage) && Number.isFinite(value.restored)
  return type === 'compacted' && typeof value.mechanism === 'string' && isMeasured
}
