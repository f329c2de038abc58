// Compactions that do not wait for the threshold: before the next request, because the model or the host requests one, and in an
// idle session just before its cache expires. They pass the same checks as any automatic compaction.
import { idleWorth } from '../mechanisms/clock.ts'
import { errorText } from '../message/json.ts'
import { blocksOf, isToolUse } from '../message/message.ts'
import { createStop, type Stop } from '../ports/safely.ts'
import { compactionOff } from '../settings/resolve.ts'
import { neutralize, oneLine } from '../text/neutralize.ts'
import { formatNumber } from '../tokens/figure.ts'
import { compactNow, whyNotCompact } from './compact.ts'
import { earlyTarget } from './mechanisms.ts'
import type { Runtime } from './runtime.ts'

/** Whether the next request tries it, and a sentence about it. */
export type Scheduled = { readonly isScheduled: boolean; readonly why: string }

/** In characters, including instructions of earlier calls. */
const maxInstructions = 2_000

/** A second call before the next request adds its instructions. */
export function scheduleCompaction(runtime: Runtime, instructions = ''): Scheduled {
  const { conversation, gauge, tracker } = runtime
  const no = (why: string): Scheduled => ({ isScheduled: false, why })
  const off = compactionOff(runtime)
  if (off !== undefined) return no(off)
  const view = conversation.view()
  const situation = gauge.situation(view)
  const { explanation } = situation
  if (explanation.autoCompact.mode === false) return no('Automatic compaction is turned off: only the user compacts.')
  const refusal = whyNotCompact(runtime, explanation, { source: 'turn', pays: true })
  if (refusal) return no(refusal.why)
  const { tokens } = explanation.size
  if (tokens <= earlyTarget(view, situation, gauge.overhead()))
    return no(`The context has only ${formatNumber(tokens)} tokens: a summary would free too little.`)
  const { scheduled } = tracker.now()
  const all = [scheduled?.instructions ?? '', instructions].filter((text) => text.trim() !== '').join('\n')
  tracker.set({ scheduled: { instructions: all.slice(0, maxInstructions) } })
  if (scheduled)
    return { isScheduled: true, why: 'A compaction is planned already. It keeps what you named now as well.' }
  const asked = explanation.autoCompact.mode === 'ask' ? ' The user is asked first.' : ''
  const size = `The context has ${formatNumber(tokens)} tokens.`
  return {
    isScheduled: true,
    why: `${size} Before the next request a summary replaces its older part, and files, todos and plan are restored.${asked}`,
  }
}

/** Tells the model that the requested compaction did not happen. */
export function sayNotCompacted({ conversation }: Runtime, why: string): void {
  const content = `The compaction that was asked for did not happen: ${neutralize(oneLine(why, 300))} The context is unchanged.`
  conversation.append([{ type: 'user', isMeta: true, message: { role: 'user', content } }])
}

/** In milliseconds before the cache expires, because clocks differ and a request takes time to arrive. */
const msBeforeExpiry = 30_000

/**
 * A timer that compacts if that is expected to pay. `run` waits for other work of the session. The next request, a close, or the
 * end of its work stops the timer.
 */
export function startIdleTimer(runtime: Runtime, run: (task: () => Promise<void>) => Promise<void>): Stop | undefined {
  const { ports, guard } = runtime
  if (compactionOff(runtime) !== undefined) return undefined
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

/** Undefined in the middle of a turn, and if no cache could expire. */
function untilExpiry({ conversation, gauge, ports, tracker }: Runtime): number | undefined {
  const view = conversation.view()
  const last = view.messages.at(-1)
  if (last?.role !== 'assistant' || blocksOf(last.content).some(isToolUse)) return undefined
  const { baseline } = tracker.now().watch
  const { cache } = gauge.situation(view)
  if (!baseline || baseline.cached === 0) return undefined
  const left = baseline.time + cache.lifetime - msBeforeExpiry - ports.now()
  return left > 0 ? left : undefined
}

function pays(runtime: Runtime): boolean {
  const { conversation, gauge } = runtime
  const view = conversation.view()
  const situation = gauge.situation(view)
  const { explanation } = situation
  const { mode, heldBackFrom } = explanation.autoCompact
  // The session is idle, so nobody can be asked.
  if (
    mode !== true ||
    heldBackFrom !== undefined ||
    whyNotCompact(runtime, explanation, { source: 'turn', pays: true })
  )
    return false
  // Only the session's own model reads the cached prefix.
  const { model, shareCache } = runtime.settings.summary
  return shareCache && model === undefined && idleWorth(view.messages, situation)?.pays === true
}
