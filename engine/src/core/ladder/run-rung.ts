// Runs one rung, which may be the host's own: it ends in bounded time with a result that can be read. What it committed
// stays committed, whatever it says or does afterwards.
import { isObject, type JsonObject } from '../message/json.ts'
import { noTokens } from '../message/usage.ts'
import { describeValue, guarded, slowTimeoutMs } from '../ports/guarded.ts'
import type { Rung, RungContext, RungResult } from './rung.ts'

/** How long a rung may take to end by itself after an abort. */
const abortGraceMs = 5_000

export async function runRung({ name, run }: Rung, context: RungContext): Promise<RungResult> {
  const { ports, signal } = context
  let isCommitted = false
  let isCommitting = false
  let isGivenUp = false
  let wasHeard = false
  const called = await guarded<unknown>(
    () =>
      run({
        ...context,
        ports: {
          ...ports,
          emit: (event) => {
            wasHeard = true
            ports.emit(event)
          },
        },
        commit: async (records) => {
          if (isGivenUp) return { type: 'failed', reason: 'aborted', message: 'It came too late.' }
          isCommitting = true
          try {
            const committed = await context.commit(records)
            isCommitted ||= committed.type === 'committed'
            return committed
          } finally {
            isCommitting = false
          }
        },
      }),
    {
      wait: ports.wait,
      timeoutMs: slowTimeoutMs,
      graceMs: abortGraceMs,
      signal,
      // A summary that is being written tells so; one that is prepared in the background waits for its turn to commit.
      isAlive: () => {
        const isAlive = wasHeard || isCommitting
        wasHeard = false
        return isAlive
      },
    },
  )
  isGivenUp = true
  if (called.type === 'aborted' && !isCommitted) return { type: 'failed', reason: 'aborted', why: 'It was stopped.' }
  const problem = called.type === 'returned' ? problemWith(called.value, isCommitted) : whyBroken(called)
  if (problem === undefined && called.type === 'returned') return called.value as RungResult
  if (problem !== undefined) ports.emit({ type: 'host-code-failed', code: 'rung', problem: `${name}: ${problem}` })
  if (isCommitted) return { type: 'compacted', mechanism: name, usage: noTokens, restored: 0 }
  return { type: 'failed', reason: 'no_summary', why: `It did not work: ${problem}.` }
}

function whyBroken(called: { readonly type: 'aborted' } | { readonly type: 'broke'; readonly why: string }) {
  return called.type === 'broke' ? called.why : undefined
}

/** Why it is no result, or not one of what was done; undefined when it is fine. */
function problemWith(value: unknown, isCommitted: boolean): string | undefined {
  if (!isObject(value) || !isResult(value)) return `returned ${describeValue(value)} that is no result of a rung`
  if (isCommitted && value.type !== 'compacted') return `committed a compaction, then returned "${value.type}"`
  if (!isCommitted && value.type === 'compacted') return 'returned "compacted" and had committed nothing'
  return undefined
}

function isResult(value: JsonObject): boolean {
  const isCounted = Number.isFinite(value.freed) && Number.isFinite(value.results)
  switch (value.type) {
    case 'reduced':
      return isCounted && Array.isArray(value.edits) && value.edits.every(isObject)
    case 'delegated':
      return isCounted && isObject(value.request)
    case 'compacted':
      return typeof value.mechanism === 'string' && isObject(value.usage) && Number.isFinite(value.restored)
    case 'declined':
      return typeof value.why === 'string'
    case 'failed':
      return typeof value.why === 'string' && typeof value.reason === 'string'
    default:
      return false
  }
}
