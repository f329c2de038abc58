// A compaction that the model or the host asks for, before the next request. It passes the same checks as any automatic one.
import { compactionOff } from '../settings/resolve.ts'
import { neutralize } from '../text/neutralize.ts'
import { oneLine } from '../text/one-line.ts'
import { formatNumber } from '../tokens/figure.ts'
import { whyNotCompact } from './compact.ts'
import { earlyTarget } from './mechanisms.ts'
import type { Runtime } from './runtime.ts'

/** Whether it will be tried before the next request, and a sentence about it. */
export type Scheduled = { readonly isScheduled: boolean; readonly why: string }

/** Characters of instructions, those of earlier calls included. */
const maxInstructions = 2_000

/** A second call before that request adds its instructions. */
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

/** Tells the model that the compaction it counts on has not happened. */
export function sayNotCompacted({ conversation }: Runtime, why: string): void {
  const content = `The compaction that was asked for did not happen: ${neutralize(oneLine(why, 300))} The context is unchanged.`
  conversation.append([{ type: 'user', isMeta: true, message: { role: 'user', content } }])
}
