// Hooks: what a host or a settings file may do at fixed points. Running them (functions, shell commands) is done
// outside; here is what they are told and what they may say.
import type { FidelityReport } from './fidelity.ts'

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
  | {
      readonly event: 'SessionEnd' | 'Stop' | 'SubagentStart' | 'SubagentStop' | 'PermissionRequest'
      readonly details?: Readonly<Record<string, unknown>>
    }

/** All hooks of an event together, in the order of configuration. Empty strings were taken out. */
export type HookOutcome = {
  /** PreCompact only: somebody said no. The first reason counts. */
  readonly veto?: string
  /** For the summariser, behind the person's own. */
  readonly instructions: readonly string[]
  /** PreCompact only: this is the summary; no model is asked. The first counts. */
  readonly summary?: string
  /** What the model is to see. */
  readonly context: readonly string[]
  /** For the person. */
  readonly messages: readonly string[]
  /** Time-outs, garbage, odd exit codes: reported, never fatal. */
  readonly problems: readonly string[]
}

export type Hooks = { readonly run: (call: HookCall) => Promise<HookOutcome> }

export const noOutcome: HookOutcome = { instructions: [], context: [], messages: [], problems: [] }
export const noHooks: Hooks = { run: async () => noOutcome }
