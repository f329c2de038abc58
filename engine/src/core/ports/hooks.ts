// Hooks: what they get at fixed points, and what they may return. node/hooks runs them.
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

/** What code found when it checked a summary against its source. It is part of the boundary, so every text is short. */
export type FidelityReport = {
  /** Human messages since the last boundary. */
  readonly humanMessages: {
    readonly total: number
    /** Verbatim in the new context. */
    readonly verbatim: number
    /** With less than all of its words. */
    readonly shortened: number
    /** Missing or altered in the summary: added from the transcript. */
    readonly putIn: number
  }
  /** Quotations of the user that were not found: marked. */
  readonly falseQuotes: readonly string[]
  /** Claims of an approval that no message of the user supports: marked. */
  readonly inferredApprovals: readonly string[]
  /** Claims about state that contradict what was last seen: marked. */
  readonly contradicted: readonly string[]
  /** Paths, identifiers, hashes, addresses, numbers that occur nowhere in the source. */
  readonly unsupported: readonly string[]
  /** Sections that the model left out. */
  readonly missingSections: readonly string[]
  /** Tokens of facts that code added. */
  readonly ledgerTokens: number
}

type HookedTool = { readonly tool: string; readonly input: unknown; readonly toolUseId: string }

/** All hooks of an event together, in the order of configuration. Empty strings were taken out. */
export type HookOutcome = {
  /** PreCompact, UserPromptSubmit and PreToolUse only: the first reason why not. */
  readonly veto?: string
  /** For the summarizer, after the person's own. */
  readonly instructions: readonly string[]
  /** PreCompact only: the summary; no model is asked. The first counts. */
  readonly summary?: string
  /** PreToolUse only: runs in place of the input that the model gave. The first counts. */
  readonly input?: JsonObject
  /** For the model. */
  readonly context: readonly string[]
  /** For the person. */
  readonly messages: readonly string[]
  /** Timeouts, invalid output, unknown exit codes: reported, never fatal. */
  readonly problems: readonly string[]
}

export type Hooks = {
  /** Once the signal is aborted, the answer is ignored. */
  readonly run: (call: HookCall, options?: { readonly signal?: AbortSignalPort | undefined }) => Promise<HookOutcome>
}

/** The hooks of a host. A field that an outcome leaves out is empty, and no outcome means that no hook had anything to say. */
export type HostHooks = {
  /** Once the signal is aborted, the answer is ignored. */
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

/** Reads what a hook returned; undefined when that is no outcome. */
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
