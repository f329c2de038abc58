// Hooks: their input at fixed points, and what they may return. node/hooks runs them.
import { isObject, type JsonObject } from '../message/json.ts'
import type { AbortSignalPort } from './model.ts'

export type Trigger = 'manual' | 'auto'

export type HookCall =
  | { readonly event: 'PreCompact'; readonly trigger: Trigger; readonly instructions: string }
  | {
      readonly event: 'PostCompact'
      readonly trigger: Trigger
      readonly summary: string
      readonly tokensBefore: number
      readonly tokensAfter: number
      readonly fidelity: FidelityReport
    }
  | { readonly event: 'SessionStart'; readonly source: 'startup' | 'resume' | 'clear' | 'compact' }
  | { readonly event: 'UserPromptSubmit'; readonly prompt: string }
  | ({ readonly event: 'PreToolUse' } & HookedTool)
  | ({ readonly event: 'PostToolUse'; readonly output: unknown } & HookedTool)
  | {
      readonly event: 'SessionEnd' | 'Stop' | 'SubagentStart' | 'SubagentStop' | 'PermissionRequest' | 'Notification'
      readonly details?: Readonly<Record<string, unknown>>
    }

/** Results of checking a summary against its source. Part of the boundary, so every text is short. */
export type FidelityReport = {
  /** Human messages since the last boundary. */
  readonly humanMessages: {
    readonly total: number
    /** Contained verbatim in the new context. */
    readonly verbatim: number
    /** Contained with only part of the words. */
    readonly shortened: number
    /** Missing or altered in the summary, and added from the transcript. */
    readonly putIn: number
  }
  /** Quotations of the user that were not found. They are marked. */
  readonly falseQuotes: readonly string[]
  /** Claims of an approval that no message of the user supports. They are marked. */
  readonly inferredApprovals: readonly string[]
  /** Claims about state that contradict the last known state. They are marked. */
  readonly contradicted: readonly string[]
  /** Paths, identifiers, hashes, addresses and numbers that do not occur in the source. */
  readonly unsupported: readonly string[]
  /** Sections that the model left out. */
  readonly missingSections: readonly string[]
  /** Tokens of facts that code added. */
  readonly ledgerTokens: number
}

type HookedTool = { readonly tool: string; readonly input: unknown; readonly toolUseId: string }

/** The combined results of all hooks of an event, in the order of configuration. Empty strings are removed. */
export type HookOutcome = {
  /** PreCompact, UserPromptSubmit and PreToolUse only: the first reason to stop the action. */
  readonly veto?: string
  /** Instructions for the summarizer, added after the person's own. */
  readonly instructions: readonly string[]
  /** PreCompact only: the summary. No model is asked. The first one counts. */
  readonly summary?: string
  /** PreToolUse only: replaces the input that the model gave. The first one counts. */
  readonly input?: JsonObject
  /** For the model. */
  readonly context: readonly string[]
  /** For the person. */
  readonly messages: readonly string[]
  /** Timeouts, invalid output, unknown exit codes: reported, never fatal. */
  readonly problems: readonly string[]
}

export type Hooks = {
  /** The result is ignored after the signal was aborted. */
  readonly run: (call: HookCall, options?: { readonly signal?: AbortSignalPort | undefined }) => Promise<HookOutcome>
}

/** The hooks of a host. A missing field is empty, and no outcome means that no hook responded. */
export type HostHooks = {
  /** The result is ignored after the signal was aborted. */
  readonly run: (
    call: HookCall,
    options?: { readonly signal?: AbortSignalPort | undefined },
  ) => Promise<Partial<HookOutcome> | undefined>
}

export const noOutcome: HookOutcome = { instructions: [], context: [], messages: [], problems: [] }
export const noHooks: Hooks = { run: async () => noOutcome }

type HookProblem = { readonly type: 'hook-reported'; readonly event: HookCall['event']; readonly problem: string }

/** Runs them, and reports their problems. */
export async function runHooks(
  { hooks, emit }: { readonly hooks: Hooks; readonly emit: (problem: HookProblem) => void },
  call: HookCall,
  signal?: AbortSignalPort,
): Promise<HookOutcome> {
  const outcome = await hooks.run(call, { signal })
  for (const problem of outcome.problems) emit({ type: 'hook-reported', event: call.event, problem })
  return outcome
}

/** Reads the result of a hook. Undefined if it is no outcome. */
export function readOutcome(value: unknown): HookOutcome | undefined {
  if (value === undefined || value === null) return noOutcome
  if (!isObject(value)) return undefined
  const { veto, summary, input } = value
  const isVeto = veto !== undefined && veto !== null && veto !== false
  return {
    ...(isVeto ? { veto: typeof veto === 'string' ? veto : 'A hook said no.' } : {}),
    ...(isText(summary) ? { summary } : {}),
    ...(isObject(input) ? { input } : {}),
    instructions: textsIn(value.instructions),
    context: textsIn(value.context),
    messages: textsIn(value.messages),
    problems: textsIn(value.problems),
  }
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(isText) : []
}

/** Empty strings count as none. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
