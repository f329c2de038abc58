// Everything outside that a compaction may use, passed in as one record.
import type { Emit } from './events.ts'
import type { Hooks } from './hooks.ts'
import type { AbortSignalPort, ModelClient } from './model.ts'
import type { GuardedRedact } from './restore.ts'
import type { Workspace } from './workspace.ts'

export type CompactionPorts = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly newId: () => string
  readonly model: ModelClient
  readonly hooks: Hooks
  /** Absent if there is none, as for a transcript from another machine. */
  readonly workspace?: Workspace | undefined
  /** Replaces the host's secrets in what a model writes. Those that Everlong knows by their form are replaced anyway. */
  readonly redact?: GuardedRedact | undefined
  /** Text that extends the instructions for a summary, or a function that replaces them; it returns nothing to keep them. */
  readonly summaryPrompt?: string | ((prompt: string) => string | undefined) | undefined
  readonly emit: Emit
  /** Resolves after this time, or at once when the signal is aborted. */
  readonly wait: (milliseconds: number, signal?: AbortSignalPort) => Promise<void>
}
