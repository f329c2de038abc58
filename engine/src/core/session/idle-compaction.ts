// A timer for an idle session: just before its cache expires, it is compacted if that is expected to pay.
import { idleWorth } from '../mechanisms/clock.ts'
import { blocksOf, isToolUse } from '../message/block.ts'
import { errorText } from '../message/json.ts'
import { createStop, type Stop } from '../ports/safely.ts'
import { compactionOff } from '../settings/resolve.ts'
import { compactNow, whyNotCompact } from './compact.ts'
import type { Runtime } from './runtime.ts'

/** Milliseconds before the cache expires: clocks differ, and a request takes time to arrive. */
const ahead = 30_000

/** `run` waits for other work of the session. The timer is stopped by the next request, a close, or the end of its work. */
export function startIdleTimer(runtime: Runtime, run: (task: () => Promise<void>) => Promise<void>): Stop | undefined {
  const { ports, guard, settings } = runtime
  if (!settings.compactWhenIdle || compactionOff(runtime) !== undefined) return undefined
  const left = untilExpiry(runtime)
  if (left === undefined) return undefined
  const stop = createStop()
  const compact = async () => {
    if (!stop.signal.aborted && pays(runtime)) await compactNow(runtime, { cause: 'idle', signal: stop.signal })
  }
  void ports
    .wait(left, stop.signal)
    .then(() => (stop.signal.aborted ? undefined : run(compact)))
    .catch((error: unknown) => guard.report('mechanism', `compaction of an idle session: ${errorText(error)}`))
  return stop
}

/** Undefined in the middle of a turn, and if nothing is cached that could expire. */
function untilExpiry({ conversation, gauge, ports, tracker }: Runtime): number | undefined {
  const view = conversation.view()
  const last = view.messages.at(-1)
  if (last?.role !== 'assistant' || blocksOf(last.content).some(isToolUse)) return undefined
  const { baseline } = tracker.now().watch
  const { cache } = gauge.situation(view)
  if (!baseline || baseline.cached === 0) return undefined
  const left = baseline.time + cache.lifetime - ahead - ports.now()
  return left > 0 ? left : undefined
}

function pays(runtime: Runtime): boolean {
  const { conversation, gauge } = runtime
  const view = conversation.view()
  const situation = gauge.situation(view)
  const { explanation } = situation
  // Nobody is there who could be asked.
  if (explanation.autoCompact.mode !== true || whyNotCompact(runtime, explanation, { source: 'turn', pays: true }))
    return false
  // Only the session's own model reads the cached prefix.
  const { model, shareCache } = runtime.settings.summary
  return shareCache && model === undefined && idleWorth(view.messages, situation)?.pays === true
}
