// Everything outside that a compaction may use, passed in as one record. Also the outer half of every compaction, in a session or
// without one: announces it, writes its records, runs the hooks that follow.

import { defined } from '../message/json.ts'
import { noTokens } from '../message/usage.ts'
import type { Pause } from '../text/slices.ts'
import type { Emit } from './events.ts'
import { type HookCall, type Hooks, runHooks, type Trigger } from './hooks.ts'
import type { AbortSignalPort, ModelClient } from './model.ts'
import { type Compacted, type CompactedDraft, type Failed, outcomesOf, stopped } from './outcome.ts'
import type { SafeRedact } from './restore.ts'
import { type Guard, safeFunction } from './safely.ts'
import type { Workspace } from './workspace.ts'

export type CompactionPorts = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly newId: () => string
  readonly model: ModelClient
  readonly hooks: Hooks
  /** Absent if there is none, as for a transcript from another machine. */
  readonly workspace?: Workspace | undefined
  /** Replaces the host's secrets in a model's text. Secrets that Everlong recognizes by their form are always replaced. */
  readonly redact?: SafeRedact | undefined
  /**
   * Text that extends the instructions for a summary, or a function that replaces them. The function may return undefined to keep
   * them.
   */
  readonly summaryPrompt?: string | ((prompt: string) => string | undefined) | undefined
  readonly emit: Emit
  /** Resolves after this time, or at once when the signal is aborted. */
  readonly wait: (milliseconds: number, signal?: AbortSignalPort) => Promise<void>
  /** Lets other work of the process run. If absent, long work runs without a break. */
  readonly pause?: Pause | undefined
  /** Does long, pure work in another thread. If absent, all work runs in this one. */
  readonly offload?: Offload | undefined
}

/** The name of a function in `compaction/tasks.ts`, and its input, which is plain data. */
export type OffloadedTask = { readonly name: string; readonly input: unknown }

export type Offload = (task: OffloadedTask, signal?: AbortSignalPort) => Promise<Offloaded>

/** `why` is absent if this session has already reported the failure. */
export type Offloaded =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'aborted' }
  | { readonly type: 'failed'; readonly why?: string }

type CompactionStart = {
  readonly trigger: Trigger
  /** The size of the context now. */
  readonly size: number
  /** The threshold of automatic compaction; 0 if there is none. */
  readonly threshold: number
  readonly ports: Pick<CompactionPorts, 'now' | 'emit'>
}

/** Emits the start of a compaction and its end. */
export async function withEvents<C extends Compacted>(
  { trigger, size, threshold, ports }: CompactionStart,
  run: () => Promise<C | Failed>,
): Promise<C | Failed> {
  const started = ports.now()
  const sinceStart = () => Math.max(0, ports.now() - started)
  ports.emit({ type: 'compaction-started', trigger, tokens: size })
  const result = await run().catch((error: unknown) => {
    // Listeners that show progress must see the end, even after a bug of ours.
    const why = 'Something unexpected happened.'
    const none = { usage: noTokens, attempts: 0, tried: [], durationMs: sinceStart() }
    ports.emit({ type: 'compaction-failed', trigger, reason: 'no-summary', why, ...none })
    throw error
  })
  const durationMs = result.type === 'compacted' ? result.durationMs : sinceStart()
  const { usage = noTokens, cost, hitRate, attempts = 0 } = result
  const spent = { usage, attempts, durationMs, tried: outcomesOf(result.tried), ...defined({ cost, hitRate }) }
  if (result.type === 'failed') {
    ports.emit({ type: 'compaction-failed', trigger, reason: result.reason, why: result.why, ...spent })
    return result
  }
  const { mechanism, before: tokensBefore, after: tokensAfter, chain } = result
  const restored = result.restored?.pieces.length ?? 0
  ports.emit({ type: 'compaction-finished', trigger, mechanism, tokensBefore, tokensAfter, chain, ...spent, restored })
  if (threshold > 0 && tokensAfter >= threshold)
    ports.emit({ type: 'still-over-threshold', tokens: tokensAfter, threshold })
  return result
}

type ApplyOptions<C> = {
  readonly trigger: Trigger
  readonly ports: Pick<CompactionPorts, 'emit' | 'hooks'>
  readonly signal?: AbortSignalPort | undefined
  /** Writes all records or none. Returns the compaction with the values known after writing, such as its size. */
  readonly write: (compaction: C) => Promise<C | Failed>
}

/** Writes a compaction and runs the hooks that follow it. */
export async function applyCompaction<C extends CompactedDraft>(
  compaction: C,
  { trigger, ports, signal, write }: ApplyOptions<C>,
): Promise<C | Failed> {
  // A listener may have aborted it when it heard of the previous phase.
  if (signal?.aborted) return stopped
  const written = await write(compaction)
  if (written.type === 'failed') return written
  const { summary, fidelity, before: tokensBefore = 0, after: tokensAfter = 0, notices = [] } = written
  if (summary === undefined || fidelity === undefined) return written
  ports.emit({ type: 'compaction-progressed', phase: 'hooks-after' })
  const call: HookCall = { event: 'PostCompact', trigger, summary, tokensBefore, tokensAfter, fidelity }
  const { messages, context } = await runHooks(ports, call, signal)
  return { ...written, notices: [...notices, ...messages], contextAfter: context }
}

export type SummaryPrompt = string | ((prompt: string) => string)

export function safeSummaryPrompt(given: SummaryPrompt, guard: Guard): CompactionPorts['summaryPrompt'] {
  const isValid = (text: unknown) => typeof text === 'string' && text.trim() !== ''
  return typeof given === 'string' ? given : safeFunction('summary-prompt', given, { guard, isValid })
}
