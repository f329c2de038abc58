// Runs one mechanism, which may be the host's own code: it ends in bounded time with a valid result. What it committed
// stays committed, whatever it returns or throws afterwards.
import type { Mechanism, MechanismContext, MechanismResult, PlanningMechanism } from '../mechanisms/mechanism.ts'
import { isObject, type JsonObject } from '../message/json.ts'
import { noTokens } from '../message/usage.ts'
import { describeValue, guarded, slowTimeoutMs } from '../ports/guarded.ts'

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
  if (type === 'failed') return typeof why === 'string' && typeof value.reason === 'string'
  const isMeasured = isObject(value.usage) && Number.isFinite(value.restored)
  return type === 'compacted' && typeof value.mechanism === 'string' && isMeasured
}
