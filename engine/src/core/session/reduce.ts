// Small reductions before a request, without a model: the first mechanism of the list that has something to do acts. Additive
// ones only ask the server for something, so each of them is asked besides.
import type { Mechanism, RequestOptions } from '../mechanisms/mechanism.ts'
import { combinedEdits } from '../mechanisms/server-edits.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import { type Failed, failed, type Tried } from '../ports/outcome.ts'
import { formatNumber } from '../tokens/figure.ts'
import { contextFor } from './compact.ts'
import { whyNotCompact } from './may-compact.ts'
import { changesIn, type Found, tryMechanisms } from './mechanisms.ts'
import { type Runtime, reduceView } from './runtime.ts'

export async function reduceNow(runtime: Runtime, signal?: AbortSignalPort): Promise<readonly Tried[]> {
  const { gauge, mechanisms, ports, tracker } = runtime
  const context = contextFor(runtime, { cause: 'threshold', signal })
  const before = tracker.serverOptions()
  // Results that the server leaves out must stay out; everything else is requested anew each time.
  if (!before?.leftOut) tracker.askServer(undefined)
  let isNew = false
  const apply = (found: Found): Found | Failed => {
    const problem = whyNotReduce(runtime, found)
    if (problem) return problem
    if (found.type === 'reduced') reduceView(runtime, found)
    // One request cannot ask for both, and what is left out must not come back.
    else if (found.type === 'compacted' || (before?.leftOut && !found.request.leftOut)) return found
    else tracker.delegate(found.request, found.freed)
    // A request that the server already has, or that leaves out nothing yet, is no change.
    isNew =
      found.type === 'reduced' || (changesIn(found) > 0 && JSON.stringify(before) !== JSON.stringify(found.request))
    return found
  }
  const local = mechanisms.reduce.filter((mechanism) => !isAdditive(mechanism))
  const ended = await tryMechanisms(local, { context, apply })
  const added = await addToServer(runtime, signal)
  const tried = [...ended.tried, ...added.tried]
  if (!isNew && added.results === 0) return tried
  const { mechanism = '' } = (isNew ? ended.tried : added.tried).at(-1) ?? {}
  const results = isNew && (ended.type === 'reduced' || ended.type === 'delegated') ? changesIn(ended) : added.results
  const sizes = { tokensBefore: context.size, tokensAfter: gauge.size().tokens }
  ports.emit({ type: 'micro-compacted', mechanism, results, ...sizes })
  return tried
}

function isAdditive(mechanism: Mechanism): boolean {
  return 'isAdditive' in mechanism && mechanism.isAdditive === true
}

/** `results`: how many the server is newly asked to leave out. */
async function addToServer(
  runtime: Runtime,
  signal?: AbortSignalPort,
): Promise<{ readonly tried: readonly Tried[]; readonly results: number }> {
  const { mechanisms, tracker } = runtime
  const before = tracker.addedOptions()
  const tried: Tried[] = []
  const asked: RequestOptions[] = []
  let results = 0
  for (const mechanism of mechanisms.reduce.filter(isAdditive)) {
    const context = contextFor(runtime, { cause: 'threshold', signal })
    const ended = await tryMechanisms([mechanism], { context, apply: (found) => found })
    tried.push(...ended.tried)
    if (ended.type !== 'delegated') continue
    asked.push(ended.request)
    results += changesIn(ended)
  }
  const edits = combinedEdits(...asked.map(({ contextManagement }) => contextManagement?.edits))
  const betas = [...new Set(asked.flatMap((one) => one.betas ?? []))]
  const now = edits.length === 0 ? undefined : { contextManagement: { edits }, betas }
  tracker.addToServer(now)
  return { tried, results: JSON.stringify(before) === JSON.stringify(now) ? 0 : results }
}

/** What is cleared right before a compaction is missing in its summary, and the cache it could have shared is broken. */
function whyNotReduce(runtime: Runtime, found: Found): Failed | undefined {
  if (found.type === 'compacted') return failed('no-progress', 'It summarizes, which only the list `compact` may do.')
  const { freed } = found
  const explanation = runtime.gauge.explanation()
  const { autoCompact, autoCompactThreshold, isAboveThreshold, size } = explanation
  const isEnough = size.tokens - freed < autoCompactThreshold.value
  if (!isAboveThreshold || isEnough || autoCompact.mode !== true) return undefined
  if (whyNotCompact(runtime, explanation, { source: 'turn', pays: false })) return undefined
  const why = `It frees ${formatNumber(freed)} tokens, which is not enough: the compaction that follows reads the results.`
  return failed('no-progress', why)
}
