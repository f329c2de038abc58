// One compaction while it runs: what it was given, what has been tried and used so far, and the few steps that every
// phase takes. It ends by throwing Ended, which only compact.ts catches.
import type { TokenCounts } from '../message/usage.ts'
import type { CompactionFailure, CompactionPhase } from '../ports/events.ts'
import type { HookCall, HookOutcome } from '../ports/hooks.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { Tried } from '../summary/asking.ts'
import type { History } from './compact-history.ts'
import type { CompactionInput, CompactionSettings } from './compact-input.ts'

export type Run = {
  readonly input: CompactionInput
  readonly settings: CompactionSettings
  readonly ports: CompactionPorts
  readonly signal: AbortSignalPort | undefined
  readonly history: History
  readonly started: number
  readonly tried: Tried[]
  readonly notices: string[]
  usage: TokenCounts
}

/** Ends the procedure from wherever it is. Nothing has been written by then. */
export class Ended extends Error {
  override readonly name = 'Ended'
  readonly reason: CompactionFailure

  constructor(reason: CompactionFailure, detail: string) {
    super(detail)
    this.reason = reason
  }
}

export function mayGoOn({ signal }: Run): void {
  if (signal?.aborted) throw new Ended('aborted', 'It was stopped.')
}

export function enter(run: Run, phase: CompactionPhase): void {
  mayGoOn(run)
  run.ports.emit({ type: 'compaction-progressed', phase })
}

export function note({ ports, tried }: Run, item: Tried): void {
  tried.push(item)
  ports.emit({ type: 'mechanism-tried', mechanism: item.mechanism, outcome: item.outcome, why: item.why })
}

export async function runHooks({ ports, notices, signal }: Run, call: HookCall): Promise<HookOutcome> {
  const outcome = await ports.hooks.run(call, { signal })
  for (const problem of outcome.problems) ports.emit({ type: 'hook-reported', event: call.event, problem })
  notices.push(...outcome.messages)
  return outcome
}

export function isSaid(text: string): boolean {
  return text.trim() !== ''
}
